# docker build -t rnng_dy .
# docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" rnng_dy parse --model parser --text text.txt
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
COPY . /src
# for every processor, since images are moved; the build brings its compiler; wheels of what the package needs, too
RUN DYNET_FLAGS="--portable=$(uname -m)" python -m pip wheel --no-cache-dir --wheel-dir /wheels '/src[pages]'

FROM python:${PYTHON}-slim
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --find-links /wheels 'rnng_dy[pages]'
RUN useradd --uid 1000 --create-home rnng && install --directory --owner rnng /work
USER 1000
# writable for the users that `docker run --user` names
ENV HOME=/tmp
WORKDIR /work
ENTRYPOINT ["rnng-dy"]
CMD ["--help"]
