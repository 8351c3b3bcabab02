"""Trust anchors in the forms in which resolvers keep them."""

from pathlib import Path

import pytest
from dnsrig.errors import InputError
from dnsrig.verification.anchor_files import read_anchor_file
from hypothesis import given
from hypothesis import strategies as st

KEY = "AwEAAag/rrsig+key/of+no+one+at+alg=="
DIGEST = "E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D"
DS = f". IN DS 20326 8 2 {DIGEST}"
DNSKEY = f". IN DNSKEY 257 3 8 {KEY}"
UNBOUND = f"""; autotrust trust anchor file
;;id: . 1
;;last_queried: 1700000000 ;;Tue Nov 14 22:13:20 2023
.\t86400\tIN\tDNSKEY\t257 3 8 {KEY} ;{{id = 1 (ksk), size = 2048b}} ;;state=2 [  VALID  ] ;;count=0
.\t86400\tIN\tDNSKEY\t257 3 13 AAAA ;{{id = 2 (ksk), size = 24b}} ;;state=1 [ ADDPEND ] ;;count=3
.\t86400\tIN\tDNSKEY\t385 3 13 BBBB ;{{id = 3 (ksk), size = 24b}} ;;state=4 [ REVOKED ] ;;count=0
.\t86400\tIN\tDNSKEY\t257 3 13 CCCC ;{{id = 4 (ksk), size = 24b}} ;;state=3 [ MISSING ] ;;count=0
"""
BIND = f"""
options {{ directory "/var/cache/bind"; }}; // not this
trust-anchors {{
    # the root
    . initial-key 257 3 8 "{KEY[:10]}
        {KEY[10:]}";
    "example.com" static-ds 20326 8 2 "{DIGEST[:20]} {DIGEST[20:]}"; /* a zone
    of ours */
}};
"""


def records(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "anchors"
    path.write_text(text)
    return [anchor.record for anchor in read_anchor_file(path)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DS}\n", [f". 3600 IN DS 20326 8 2 {DIGEST.lower()}"]),
        (
            f"{DNSKEY}\n; a comment\n{DS}\n",
            [DNSKEY.replace(" IN", " 3600 IN"), f". 3600 IN DS 20326 8 2 {DIGEST.lower()}"],
        ),
        (
            BIND,
            [DNSKEY.replace(" IN", " 3600 IN"), f"example.com. 3600 IN DS 20326 8 2 {DIGEST.lower()}"],
        ),
        (f'managed-keys {{ "." initial-key 257 3 8 "{KEY}"; }};', [DNSKEY.replace(" IN", " 3600 IN")]),
        (f'trusted-keys {{ . 257 3 8 "{KEY}"; }};', [DNSKEY.replace(" IN", " 3600 IN")]),
        (UNBOUND, [DNSKEY.replace(" IN", " 3600 IN"), ". 3600 IN DNSKEY 257 3 13 CCCC"]),
        (f'server:\n    trust-anchor: "{DS}"\n', [f". 3600 IN DS 20326 8 2 {DIGEST.lower()}"]),
    ],
    ids=["DS", "DNSKEY and DS", "trust-anchors", "managed-keys", "trusted-keys", "Unbound's states", "unbound.conf"],
)
def test_forms(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert records(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no DS or DNSKEY record in the trust anchors; give DS or DNSKEY records"),
        ("www A 192.0.2.1\n", "no DS or DNSKEY record"),
        ("trust-anchors { . initial-key 257 3; };", "in trust-anchors the entry for . is not of the form"),
        ("trust-anchors { . other-key 257 3 8 AAAA; };", "in trust-anchors the entry for . is not of the form"),
        (
            "server:\n auto-trust-anchor-file: /etc/unbound/root.key\n",
            "it names the file /etc/unbound/root.key: give that",
        ),
        ("\0\x01\x02 { }", "cannot be read"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match="--trust-anchor") as raised:
        records(tmp_path, text)
    assert said in str(raised.value)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "anchors"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="it is no text"):
        read_anchor_file(path)
    with pytest.raises(InputError, match="No such file"):
        read_anchor_file(tmp_path / "none")


@given(st.text(alphabet=st.sampled_from('{};"/*#. \n\tatrusnchoDSKEY0123456789-'), max_size=120))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any-anchors"
    path.write_text(f"trust-anchors {{ {text}")
    try:
        read_anchor_file(path)
    except InputError as error:
        assert str(error).startswith("--trust-anchor")
