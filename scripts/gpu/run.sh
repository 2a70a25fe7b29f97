#!/bin/sh
# On the machine with the GPU, in the unpacked bundle: sets up without network and runs the check.
# PYTHON and CUDA_HOME say where those are; arguments go to the check.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
cuda=${CUDA_HOME:-/usr/local/cuda}
libraries=$cuda/lib64
[ -d "$libraries" ] || libraries=$cuda/lib
if [ ! -e "$here/venv/ready" ]; then
    "$python" -m venv "$here/venv"
    # CUDA's own libraries are the machine's: no dependencies of DyNet's wheel but these
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
# after a change of a source in build/: venv/bin/ninja -C build, then this script again
module=$(find "$here/build/build" -name '_dynet*.so' -newer "$here/venv/ready" | head -n 1)
if [ -n "$module" ]; then
    cp "$module" "$("$here/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
fi
export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export NLTK_DATA="$here/nltk_data" PYTHONPATH="$here/project"
exec "$here/venv/bin/python" -m scripts.gpu check \
    --references "$here/references.npz" --logs "$here/gpu-check" "$@"
