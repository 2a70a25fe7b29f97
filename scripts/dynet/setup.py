"""Builds DyNet as one self-contained extension module; takes the place of the sdist's own setup.py.

All of libdynet goes into `_dynet`, so the wheel needs no CMake to build and no library beside it to
run. The module uses Python's stable ABI: one build serves every Python from 3.10 on. The installer
copies this file into the patched source tree and sets the environment:

    DYNET_MARCH      value of -march, empty for the compiler's default
    DYNET_JOBS       compiles at a time
    DYNET_CUDA_ARCH  GPU architectures such as `80,90`; empty builds the CPU backend alone
    DYNET_ZIG        not empty if the compiler is zig, which names processors with underscores
    NVCC, CUDA_HOME  the CUDA compiler and its toolkit
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# the last line of versions.txt
VERSION = Path("versions.txt").read_text().split()[-2]
STABLE_ABI = "cp310", "0x030A0000"
MARCH = os.environ.get("DYNET_MARCH", "")
JOBS = int(os.environ.get("DYNET_JOBS") or 1)
CUDA_ARCH = os.environ.get("DYNET_CUDA_ARCH", "")
CUDA_LIBRARIES = ("cublas", "curand", "cudart")
# flags for sources that run while a model works, and for others; both define the same macros
FAST = ["-Ofast", "-fno-finite-math-only", "-funroll-loops"]
LIGHT = ["-O1", "-ffast-math", "-fno-finite-math-only"]
# sources that the Python module never calls
LEFT_OUT = {"deep-lstm", "grad-check", "hsm-builder", "mp", "nodes-contract", "nodes-conv2d"}
LEFT_OUT |= {"pretrain", "saxe-init", "treelstm"}
ONLY_CUDA = ["cuda", "gpu-parameters"]
# nodes that no model has
LIGHT_NODES = ["argmax", "conv", "cumulative", "hinge", "losses", "lstm"]
LIGHT_NODES += ["maxpooling2d", "moments", "normalization", "random", "rounding"]
# Each list is compiled as one file, a unit. So the compiler parses Eigen's headers once, and
# compiles once the templates that the sources share.
FAST_UNITS = [
    ["nodes-affinetransform", "nodes-coupled-lstm", "nodes-matrixmultiply"],
    ["model", "param-nodes", "tensor", "training"],
]
# sources that build graphs or read DyNet's own files; builders whose enumerators have the same
# names are in different units
LIGHT_UNITS = [
    ["cfsm-builder", "dict", "expr-nodes", "gru", "io", "lstm"],
    ["fast-lstm", "rnn", "rnn-state-machine"],
]
# sources that the CUDA backend needs from both compilers, besides the nodes
ALSO_CUDA = [f"dynet/{name}.cc" for name in ("param-nodes", "tensor", "training", "model")]
# comes before Eigen's headers, which do not check launches in a release build
CUDA_CHECKS = ["-include", "dynet/gpu-checks.h"]


def in_packages(relative: str) -> Path:
    """The folder `relative` of an installed package of the build environment."""
    for entry in sys.path:
        folder = Path(entry) / relative
        if folder.is_dir():
            return folder
    raise SystemExit(f"{relative} is in no package of the build environment")


def shares(sources: list[str], count: int) -> list[list[str]]:
    """The sources in `count` lists."""
    return [sources[part::count] for part in range(count)]


def write_units(units: list[list[str]], name: str, suffix: str) -> list[str]:
    """Write a file for each unit that includes its sources; return the paths."""
    paths = []
    for number, sources in enumerate(units):
        path = Path("gen") / f"{name}{number}{suffix}"
        path.write_text("".join(f'#include "{source}"\n' for source in sources))
        paths.append(str(path))
    return paths


def cpu_units(sources: dict[str, str]) -> tuple[list[str], list[str]]:
    """The units of sources, by name, that are compiled for speed, and the other units."""
    rest = dict(sources)
    units = [*FAST_UNITS, ONLY_CUDA] if CUDA_ARCH else FAST_UNITS
    fast = [[rest.pop(name) for name in unit] for unit in units]
    light = [[rest.pop(name) for name in unit] for unit in LIGHT_UNITS]
    light += shares([rest.pop(f"nodes-{name}") for name in LIGHT_NODES], 2)
    fast += shares([path for name, path in rest.items() if name.startswith("nodes-")], 3)
    fast += shares([path for name, path in rest.items() if not name.startswith("nodes-")], 2)
    return write_units(fast, "fast", ".cc"), write_units(light, "light", ".cc")


def write_modules() -> None:
    """Write the files that CMake would, and dynet_build.py, which says how the wheel was built."""
    Path("gen").mkdir(exist_ok=True)
    Path("gen/config.h").write_text("")
    template = Path("python/dynet.py.in").read_text()
    template = template.replace("${HAVE_CUDA}", str(bool(CUDA_ARCH)))
    Path("python/dynet.py").write_text(template.replace("${GIT_DESCRIBE}", VERSION))
    compiler = subprocess.check_output([os.environ.get("CXX", "c++"), "--version"], text=True)
    Path("python/dynet_build.py").write_text(
        f"VERSION = {full_version()!r}\nMARCH = {MARCH!r}\n"
        f"COMPILER = {compiler.splitlines()[0]!r}\nCUDA_ARCH = {CUDA_ARCH!r}\n"
    )


def full_version() -> str:
    """The version with the backend."""
    return VERSION + (".cu13" if CUDA_ARCH else "")


def gencode(architectures: str) -> list[str]:
    """nvcc's arguments for code of each architecture, and PTX of the newest for newer GPUs."""
    numbers = sorted(architectures.split(","), key=int)
    codes = [(number, f"sm_{number}") for number in numbers]
    codes.append((numbers[-1], f"compute_{numbers[-1]}"))
    return [f"-gencode=arch=compute_{number},code={code}" for number, code in codes]


class ParallelBuild(build_ext):
    """Compiles the sources side by side, those for CUDA with nvcc, and links them all.

    It writes its commands to `commands.json`, of which scripts/gpu/bundle.py makes a ninja file.
    """

    def build_extension(self, ext: Extension) -> None:
        Path(self.build_temp).mkdir(parents=True, exist_ok=True)
        commands, spawn = [], self.compiler.spawn

        def spawn_and_note(command: list[str], **settings: object) -> None:
            commands.append(command)
            spawn(command, **settings)

        self.compiler.spawn = spawn_and_note
        # The module takes longest, so it begins first. It is linked last: of equal functions the
        # linker takes the first, which should be one that is compiled for speed.
        (module,) = (source for source in ext.sources if source.endswith(".cpp"))
        units = [*ext.cuda_sources, *(source for source in ext.sources if source != module)]
        order = [module, *units]
        with ThreadPoolExecutor(JOBS) as pool:
            jobs = {source: pool.submit(self.compile, ext, source) for source in order}
            for number, job in enumerate(jobs.values(), 1):
                job.result()
                print(f"compiled {number} of {len(order)}", flush=True)
        self.compiler.link_shared_object(
            [jobs[source].result() for source in (*units, module)],
            self.get_ext_fullpath(ext.name),
            extra_postargs=ext.extra_link_args,
            build_temp=self.build_temp,
            target_lang="c++",
        )
        Path("commands.json").write_text(json.dumps(commands))

    def compile(self, ext: Extension, source: str) -> str:
        """Compile one unit; return the object file."""
        if source in ext.cuda_sources:
            return self.compile_cuda(ext, source)
        (target,) = self.compiler.compile(
            [source],
            output_dir=self.build_temp,
            macros=ext.define_macros,
            include_dirs=ext.include_dirs,
            extra_postargs=ext.extra_compile_args + (FAST if source in ext.fast_sources else LIGHT),
        )
        return target

    def compile_cuda(self, ext: Extension, source: str) -> str:
        target = str(Path(self.build_temp) / (Path(source).name + ".o"))
        flags = ["-x", "cu", "-std=c++17", "-O2", "-w", "-Xcompiler", "-fPIC,-w"]
        flags += ["--expt-relaxed-constexpr", "--extended-lambda", "-D_FORCE_INLINES"]
        flags += CUDA_CHECKS
        flags += [f"-D{name}={value or 1}" for name, value in ext.define_macros]
        flags += [f"-I{folder}" for folder in ext.include_dirs]
        command = [os.environ["NVCC"], *gencode(CUDA_ARCH), *flags, "-c", source, "-o", target]
        self.compiler.spawn(command)
        return target


def cuda_parts(nodes: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The sources for nvcc, the include folders and the link arguments of the CUDA backend."""
    root = in_packages("nvidia/cu13")
    link = []
    for name in CUDA_LIBRARIES:
        libraries = sorted((root / "lib").glob(f"lib{name}.so*"))
        if not libraries:
            raise SystemExit(f"no lib{name}.so in {root / 'lib'}")
        link.append(str(libraries[0]))
    # the module lies two folders below site-packages
    link.append("-Wl,-rpath,$ORIGIN/../../nvidia/cu13/lib")
    merged = write_units(shares(nodes + ALSO_CUDA, 8), "merged", ".cu")
    sources = [*merged, "dynet/gpu-ops.cu", "dynet/gpu-pieces.cu"]
    return sources, [str(Path(os.environ["CUDA_HOME"]) / "include"), str(root / "include")], link


def extension() -> tuple[Extension, list[str], list[str]]:
    """The extension module `_dynet`; its sources compiled for speed, and those for nvcc."""
    left_out = LEFT_OUT if CUDA_ARCH else LEFT_OUT.union(ONLY_CUDA)
    paths = [path for path in sorted(Path("dynet").glob("*.cc")) if path.stem not in left_out]
    fast, light = cpu_units({path.stem: str(path) for path in paths})
    macros = [("EIGEN_FAST_MATH", "1"), ("NDEBUG", None), ("Py_LIMITED_API", STABLE_ABI[1])]
    include = [".", "gen", "python", str(in_packages("cmeel.prefix/include/eigen3"))]
    flags = ["-std=c++17", "-fPIC", "-g0", "-w"]
    if MARCH:
        flags.append(f"-march={MARCH.replace('-', '_') if os.environ.get('DYNET_ZIG') else MARCH}")
    cuda_sources, link = [], []
    if CUDA_ARCH:
        macros += [("HAVE_CUDA", "1"), ("EIGEN_USE_GPU", None)]
        flags += CUDA_CHECKS
        nodes = [str(path) for path in paths if path.stem.startswith("nodes-")]
        cuda_sources, cuda_include, link = cuda_parts(nodes)
        include += cuda_include
    module = Extension(
        "_dynet",
        [*fast, *light, "python/_dynet.pyx"],
        language="c++",
        include_dirs=include,
        define_macros=macros,
        extra_compile_args=flags,
        extra_link_args=link,
        py_limited_api=True,
    )
    return module, fast, cuda_sources


def main() -> None:
    # the .pyx relies on Cython 0.29's rules for operators (2 * x) and exceptions
    directives = {"c_api_binop_methods": True, "legacy_implicit_noexcept": True}
    directives["language_level"] = 2
    write_modules()
    module, fast_sources, cuda_sources = extension()
    modules = cythonize(
        [module], include_path=["python"], compiler_directives=directives, quiet=True
    )
    # cythonize returns new objects
    modules[0].fast_sources, modules[0].cuda_sources = fast_sources, cuda_sources
    setup(
        name="dyNET",
        version=full_version(),
        description="The Dynamic Neural Network Toolkit",
        license="Apache 2.0",
        package_dir={"": "python"},
        py_modules=["dynet", "dynet_viz", "dynet_config", "dynet_build"],
        ext_modules=modules,
        cmdclass={"build_ext": ParallelBuild},
        options={"bdist_wheel": {"py_limited_api": STABLE_ABI[0]}},
    )


if __name__ == "__main__":
    main()
