#!/bin/sh
# Run the check without network, in a checkout that has the file of `make gpu-bundle`, on a machine with a GPU.
# PYTHON and CUDA_HOME name the interpreter and CUDA's folder; arguments are passed to the check.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
cuda=${CUDA_HOME:-/usr/local/cuda}
libraries=$cuda/lib64
[ -d "$libraries" ] || libraries=$cuda/lib
bundle=$PWD/rnng-dy-gpu
sum=$(cksum < "$bundle.tar.xz")
if [ "$sum" != "$(cat "$bundle/sum" 2>/dev/null)" ]; then
    rm -rf "$bundle"
    "$python" -m tarfile --filter data -e "$bundle.tar.xz"
    echo "$sum" > "$bundle/sum"
fi
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
# after changing a source: ninja -C rnng-dy-gpu/build, then this script again
cat > "$bundle/build/paths.ninja" <<PATHS
cuda = $cuda
cuda_libraries = $libraries
nvcc = $cuda/bin/nvcc
cxx = ${CXX:-g++}
python_headers = $headers
PATHS
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export NLTK_DATA="$bundle/nltk_data" PYTHONPATH="$PWD:$bundle/site"
exec "$python" -m scripts.gpu check --references "$bundle/references.npz" "$@"
