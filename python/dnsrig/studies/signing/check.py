"""Whether what a signer wrote is a validly signed zone."""

import shutil
from pathlib import Path

from dnsrig.errors import SubjectFailedError
from dnsrig.studies.signing.child import DNSRIG, run_to_end

VERIFIER = "dnssec-verify"


def verify(zone: Path, origin: str, folder: Path) -> str:
    """Verify a signed zone file, by another project's program where it is installed; name what verified it.

    Raises SubjectFailedError with what is wrong.
    """
    if shutil.which(VERIFIER) is not None:
        name, command = VERIFIER, [VERIFIER, "-q", "-o", origin, str(zone)]
    else:
        name, command = "dnsrig zone verify", [*DNSRIG, "zone", "verify", "-o", origin, str(zone)]
    try:
        run_to_end(command, folder)
    except SubjectFailedError as error:
        raise SubjectFailedError(f"the signed zone is not valid: {error}") from error
    return name
