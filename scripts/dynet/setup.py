"""Builds DyNet as one self-contained extension module; takes the place of the sdist's own setup.py.

All of libdynet goes into `_dynet`, so the wheel needs no CMake to build and no library beside it to
run. scripts/install_dynet copies this file into the patched source tree and sets the environment:

    DYNET_MARCH      value of -march, empty for the compiler's default
    DYNET_JOBS       compiles at a time
    DYNET_CUDA_ARCH  GPU architectures such as `80,90`; empty builds the CPU backend alone
    NVCC, CUDA_HOME  the CUDA compiler and its toolkit
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

VERSION = "2.1.2"
MARCH = os.environ.get("DYNET_MARCH", "")
JOBS = int(os.environ.get("DYNET_JOBS") or 1)
CUDA_ARCH = os.environ.get("DYNET_CUDA_ARCH", "")
CUDA_LIBRARIES = ("cublas", "curand", "cudart")
# sources that the CUDA backend needs from both compilers, besides the nodes
ALSO_CUDA = [f"dynet/{name}.cc" for name in ("param-nodes", "tensor", "training", "model")]
# before any header of Eigen's, whose own checks of launches are off in a release build
CUDA_CHECKS = ["-include", "dynet/gpu-checks.h"]


def in_packages(relative: str) -> Path:
    """The folder `relative` of an installed package of the build environment."""
    for entry in sys.path:
        folder = Path(entry) / relative
        if folder.is_dir():
            return folder
    raise SystemExit(f"{relative} is in no package of the build environment")


def merge(sources: list[str], count: int, suffix: str) -> list[str]:
    """Write `count` files that include all sources: Eigen's headers are parsed that often only."""
    merged = []
    for part in range(count):
        path = Path("gen") / f"merged{part}{suffix}"
        path.write_text("".join(f'#include "{source}"\n' for source in sources[part::count]))
        merged.append(str(path))
    return merged


def write_modules() -> None:
    """Fill in what CMake would, and dynet_build.py, which says how the wheel was built."""
    Path("gen").mkdir(exist_ok=True)
    Path("gen/config.h").write_text("")
    template = Path("python/dynet.py.in").read_text()
    template = template.replace("${HAVE_CUDA}", str(bool(CUDA_ARCH)))
    Path("python/dynet.py").write_text(template.replace("${GIT_DESCRIBE}", VERSION))
    compiler = subprocess.check_output([os.environ.get("CXX", "c++"), "--version"], text=True)
    Path("python/dynet_build.py").write_text(
        f"MARCH = {MARCH!r}\nCOMPILER = {compiler.splitlines()[0]!r}\nCUDA_ARCH = {CUDA_ARCH!r}\n"
    )


def gencode(architectures: str) -> list[str]:
    """nvcc's arguments for code of each architecture, and PTX of the newest for GPUs that come after it."""
    numbers = sorted(architectures.split(","), key=int)
    codes = [(number, f"sm_{number}") for number in numbers]
    codes.append((numbers[-1], f"compute_{numbers[-1]}"))
    return [f"-gencode=arch=compute_{number},code={code}" for number, code in codes]


class ParallelBuild(build_ext):
    """Compiles the sources side by side, the CUDA ones with nvcc, and links them all.

    `commands.json` has the commands that did it: scripts/gpu_bundle makes a ninja file of them.
    """

    def build_extension(self, ext: Extension) -> None:
        Path(self.build_temp).mkdir(parents=True, exist_ok=True)
        commands, spawn = [], self.compiler.spawn

        def spawn_and_tell(command: list[str], **settings: object) -> None:
            commands.append(command)
            spawn(command, **settings)

        self.compiler.spawn = spawn_and_tell
        total = len(ext.sources) + len(ext.cuda_sources)
        objects = []
        with ThreadPoolExecutor(JOBS) as pool:
            jobs = [pool.submit(self.compile_cuda, ext, source) for source in ext.cuda_sources]
            jobs += [pool.submit(self.compile_cpu, ext, source) for source in ext.sources]
            for number, job in enumerate(jobs, 1):
                objects += job.result()
                print(f"compiled {number} of {total}", flush=True)
        self.compiler.link_shared_object(
            objects,
            self.get_ext_fullpath(ext.name),
            extra_postargs=ext.extra_link_args,
            build_temp=self.build_temp,
            target_lang="c++",
        )
        Path("commands.json").write_text(json.dumps(commands))

    def compile_cpu(self, ext: Extension, source: str) -> list[str]:
        return self.compiler.compile(
            [source],
            output_dir=self.build_temp,
            macros=ext.define_macros,
            include_dirs=ext.include_dirs,
            extra_postargs=ext.extra_compile_args,
        )

    def compile_cuda(self, ext: Extension, source: str) -> list[str]:
        target = str(Path(self.build_temp) / (Path(source).name + ".o"))
        flags = ["-x", "cu", "-std=c++17", "-O2", "-w", "-Xcompiler", "-fPIC,-w"]
        flags += ["--expt-relaxed-constexpr", "--extended-lambda", "-D_FORCE_INLINES"]
        flags += CUDA_CHECKS
        flags += [f"-D{name}={value or 1}" for name, value in ext.define_macros]
        flags += [f"-I{folder}" for folder in ext.include_dirs]
        command = [os.environ["NVCC"], *gencode(CUDA_ARCH), *flags, "-c", source, "-o", target]
        self.compiler.spawn(command)
        return [target]


def cuda_parts(nodes: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The sources for nvcc, the include folders and the link arguments of the CUDA backend."""
    root = in_packages("nvidia/cu13")
    link = []
    for name in CUDA_LIBRARIES:
        found = sorted((root / "lib").glob(f"lib{name}.so*"))
        if not found:
            raise SystemExit(f"no lib{name}.so in {root / 'lib'}")
        link.append(str(found[0]))
    link.append("-Wl,-rpath,$ORIGIN/nvidia/cu13/lib")
    sources = [*merge(nodes + ALSO_CUDA, 8, ".cu"), "dynet/gpu-ops.cu", "dynet/gpu-pieces.cu"]
    return sources, [str(Path(os.environ["CUDA_HOME"]) / "include"), str(root / "include")], link


def extension() -> tuple[Extension, list[str]]:
    """The extension module `_dynet` and the sources of it that are nvcc's."""
    nodes = sorted(str(path) for path in Path("dynet").glob("nodes-*.cc"))
    left_out = {"mp.cc"} if CUDA_ARCH else {"mp.cc", "cuda.cc"}
    others = [p for p in sorted(Path("dynet").glob("*.cc")) if p.name not in left_out]
    others = [str(path) for path in others if str(path) not in nodes]
    macros = [("EIGEN_FAST_MATH", "1"), ("NDEBUG", None)]
    include = [".", "gen", "python", str(in_packages("cmeel.prefix/include/eigen3"))]
    flags = ["-std=c++17", "-Ofast", "-fno-finite-math-only", "-funroll-loops"]
    flags += ["-fPIC", "-g0", "-w"]
    if MARCH:
        flags.append(f"-march={MARCH}")
    cuda_sources, link = [], []
    if CUDA_ARCH:
        macros += [("HAVE_CUDA", "1"), ("EIGEN_USE_GPU", None)]
        flags += CUDA_CHECKS
        cuda_sources, cuda_include, link = cuda_parts(nodes)
        include += cuda_include
    module = Extension(
        "_dynet",
        ["python/_dynet.pyx", *merge(nodes, 8, ".cc"), *others],
        language="c++",
        include_dirs=include,
        define_macros=macros,
        extra_compile_args=flags,
        extra_link_args=link,
    )
    return module, cuda_sources


def requirements() -> list[str]:
    """What the wheel needs at run time."""
    needed = ["numpy"]
    if CUDA_ARCH:
        lines = Path("cuda-requirements.txt").read_text().splitlines()
        # cccl has headers only
        needed += [line for line in lines if line.startswith("nvidia") and "cccl" not in line]
    return needed


def main() -> None:
    directives = {"language_level": 2}
    if int(Cython.__version__.split(".")[0]) >= 3:
        # the .pyx relies on Cython 0.29's rules for operators (2 * x) and exceptions
        directives.update(c_api_binop_methods=True, legacy_implicit_noexcept=True)
    write_modules()
    module, cuda_sources = extension()
    modules = cythonize(
        [module], include_path=["python"], compiler_directives=directives, quiet=True
    )
    # cythonize gives new objects
    modules[0].cuda_sources = cuda_sources
    setup(
        name="dyNET",
        version=VERSION + ("+cu13" if CUDA_ARCH else ""),
        description="The Dynamic Neural Network Toolkit",
        license="Apache 2.0",
        package_dir={"": "python"},
        py_modules=["dynet", "dynet_viz", "dynet_config", "dynet_build"],
        install_requires=requirements(),
        ext_modules=modules,
        cmdclass={"build_ext": ParallelBuild},
    )


if __name__ == "__main__":
    main()
