#!/bin/sh
# Run this in the unpacked bundle on the machine with the GPU: it sets up without network and runs the check.
# PYTHON and CUDA_HOME name the interpreter and CUDA's folder; arguments are passed to the check.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
cuda=${CUDA_HOME:-/usr/local/cuda}
libraries=$cuda/lib64
[ -d "$libraries" ] || libraries=$cuda/lib
if [ ! -e "$here/venv/ready" ]; then
    "$python" -m venv "$here/venv"
    "$here/venv/bin/pip" install --quiet --no-index --no-deps "$here"/wheels/*.whl
    touch "$here/venv/ready"
fi
headers=$("$here/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
cat > "$here/build/paths.ninja" <<PATHS
cuda = $cuda
cuda_libraries = $libraries
nvcc = $cuda/bin/nvcc
cxx = ${CXX:-g++}
python_headers = $headers
PATHS
# after changing a source in build/: venv/bin/ninja -C build, then this script again
module=$(find "$here/build/build" -name '_dynet*.so' -newer "$here/venv/ready" | head -n 1)
if [ -n "$module" ]; then
    cp "$module" "$here"/project/rnng_dy.dynet/*/
fi
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export NLTK_DATA="$here/nltk_data" PYTHONPATH="$here/project"
exec "$here/venv/bin/python" -m scripts.gpu check \
    --references "$here/references.npz" --logs "$here/gpu-check" "$@"
