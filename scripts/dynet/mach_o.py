"""`mach_o.py WHEEL`: inspect the modules of a wheel for Macs, which cannot run here.

It runs by its path in an environment that has lief, which reads the format.
"""

import sys
import zipfile

import lief

OLDEST = (11, 0)
# C++ lets a program replace these, so they cannot be hidden; the last two are every module's own
VISIBLE = ("_PyInit__dynet", "__Zna", "__Znw", "__Zda", "__Zdl", "__mh_", "___dso_handle")
ANY_MODULE = -2
"""The number of a name that is looked up in all modules of the process."""


def main(path: str) -> None:
    """Print a line for each module; the exit code is 1 if one would not load."""
    with zipfile.ZipFile(path) as wheel:
        modules = {name: wheel.read(name) for name in wheel.namelist() if name.endswith(".so")}
    problems = [f"{name}: {problem}" for name, data in modules.items() for problem in inspect(data)]
    for name in modules:
        print(f"{name}: inspected")
    sys.exit("\n".join(problems) if problems or not modules else None)


def inspect(data: bytes):
    """Yield the problems of a module."""
    module = lief.MachO.parse(list(data)).at(0)
    if module.header.cpu_type != lief.MachO.Header.CPU_TYPE.ARM64:
        yield f"for {module.header.cpu_type}"
    if tuple(module.build_version.minos[:2]) != OLDEST:
        yield f"for macOS {module.build_version.minos} and later"
    for library in module.libraries:
        if not library.name.endswith(("/libSystem.B.dylib", ".so")):
            yield f"needs {library.name}"
    for symbol in module.exported_symbols:
        if not symbol.name.startswith(VISIBLE):
            yield f"exports {symbol.name}"
    for binding in module.bindings:
        name = binding.symbol.name
        if binding.library_ordinal == ANY_MODULE and not name.startswith(("_Py", "__Py")):
            yield f"nothing has {name}"


main(*sys.argv[1:])
