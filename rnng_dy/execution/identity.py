"""The installed software, which must be equal in all processes for equal outputs."""

from __future__ import annotations


def installed() -> dict[str, str | None]:
    """Return the versions of packages, with hashes of sources and DyNet's build; None for a missing package.

    The function uses nothing of this package, so that it also runs on machines with another version or none.
    """
    import hashlib
    import importlib
    import importlib.metadata
    import importlib.util
    import platform
    from pathlib import Path

    def version(name: str) -> str | None:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            return None

    def hash_of(modules: tuple[str, ...]) -> str | None:
        digest = hashlib.sha256()
        for module in modules:
            spec = importlib.util.find_spec(module)
            if spec is None:
                return None
            origin = Path(spec.origin)
            folder = spec.submodule_search_locations
            for path in sorted(origin.parent.rglob("*.py")) if folder else [origin]:
                digest.update(f"{module} {path.relative_to(origin.parent)}\n".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:12]

    def with_hash(version: str | None, of: str | None, what: str) -> str | None:
        return None if of is None else f"{version} ({what} {of})"

    sources = hash_of(("oracle", "clusters", "rnng_dy"))
    # this import makes our build of DyNet the one that is found
    own = importlib.import_module("rnng_dy").__version__ if sources else None
    build = hash_of(("_dynet",))
    described = importlib.util.find_spec("dynet_build")
    dynet = importlib.import_module("dynet_build") if described else None
    return {
        "rnng_dy": with_hash(own, sources, "sources"),
        "DyNet": with_hash(getattr(dynet, "VERSION", None), build, "build"),
        "numpy": version("numpy"),
        "nltk": version("nltk"),
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }


def differences(theirs: dict[str, str | None], ours: dict[str, str | None]) -> str:
    """Return the differences between installed packages as text; empty if there are none."""
    return "; ".join(
        f"{name} {theirs.get(name) or 'is not installed'} there, {of_ours or 'not installed'} here"
        for name, of_ours in ours.items()
        if theirs.get(name) != of_ours
    )
