"""Check that every dependency, direct or not, may be used in an Apache-2.0 OR MIT product; exit 1 if not."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "OpenSSL",
    "PSF-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
}
# What distributions say in words where the SPDX field is missing, by word found in it.
WORDS = {
    "apache": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "isc": "ISC",
    "mit": "MIT",
    "psf": "PSF-2.0",
    "python software foundation": "PSF-2.0",
}


def permitted(expression: str) -> bool:
    """Evaluate an SPDX expression: every AND part and one OR part must be in ALLOWED."""
    tokens = re.findall(r"\(|\)|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    # Only names of ours reach eval: each token becomes a truth value, an operator or a parenthesis.
    words = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    return bool(eval(" ".join(words.get(token, str(token in ALLOWED)) for token in tokens)))


def rust_dependencies() -> dict[str, str]:
    """Give name and licence of every crate in Cargo.lock that a build here uses."""
    command = [
        "cargo",
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        "x86_64-unknown-linux-gnu",
    ]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    return {
        f"{package['name']} {package['version']}": package["license"] or f"file {package['license_file']}"
        for package in metadata["packages"]
        if package["source"] is not None
    }


def python_dependencies() -> dict[str, str]:
    """Give name and licence of every distribution that the package needs at run time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted, found = list(project["dependencies"]), {}
    while wanted:
        name = re.match(r"[A-Za-z0-9._-]+", wanted.pop()).group()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # wanted on another platform only
        if name in found:
            continue
        found[name] = licence_of(package.metadata)
        wanted += [need for need in package.requires or [] if "extra ==" not in need]
    return found


def licence_of(metadata) -> str:
    """Give the SPDX expression, from the newer field or from the words of the older ones."""
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [value for value in metadata.get_all("Classifier", []) if value.startswith("License ::")]
    text = " ".join([*classifiers, (metadata.get("License") or "").split("\n")[0]]).lower()
    return next((spdx for word, spdx in WORDS.items() if word in text), text or "unknown")


def main() -> int:
    """Print what is not permitted; return the exit code."""
    found = {**rust_dependencies(), **python_dependencies()}
    wrong = {name: licence for name, licence in found.items() if not permitted(licence)}
    for name, licence in sorted(wrong.items()):
        print(f"{name}: {licence} is not on the list in tools/check_licences.py", file=sys.stderr)
    print(f"licences: {len(found)} dependencies, {len(wrong)} not permitted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
