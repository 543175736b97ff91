"""Packs a wheel around a module that was built already, so that a test can install it: ``python wheel.py MODULE FOLDER``.

The metadata is maturin's, and the files are those that maturin packs. Releases are made by ``maturin build`` itself.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parent


def pack(module: Path, folder: Path) -> Path:
    """Writes the wheel into the folder; gives its path."""
    with tempfile.TemporaryDirectory() as place:
        command = [Path(sys.executable).parent / "maturin", "pep517", "write-dist-info", "--metadata-directory", place]
        subprocess.run([*command, "--interpreter", sys.executable], cwd=PACKAGE, check=True, stdout=subprocess.DEVNULL)
        (about,) = Path(place).iterdir()
        files = {f"{about.name}/{path.name}": path.read_bytes() for path in sorted(about.iterdir())}
    sources = PACKAGE / "src"
    for path in sorted(sources.rglob("*")):
        if path.is_file() and path.suffix in {".py", ".pyi", ".typed"} or path.name == "py.typed":
            files[path.relative_to(sources).as_posix()] = path.read_bytes()
    files["gatewood/_core.abi3.so"] = module.read_bytes()
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{about.name}/RECORD"] = "".join([*lines, f"{about.name}/RECORD,,\n"]).encode()
    tag = next(line.removeprefix("Tag: ") for line in files[f"{about.name}/WHEEL"].decode().splitlines() if line.startswith("Tag: "))
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{about.name.removesuffix('.dist-info')}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


if __name__ == "__main__":
    print(pack(Path(sys.argv[1]), Path(sys.argv[2])))
