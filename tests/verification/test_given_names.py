"""Names beyond ASCII, as users give them."""

import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.errors import InputError
from dnsrig.verification.given_names import name_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("example.com", "example.com."),
        ("bücher.example", "xn--bcher-kva.example."),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah."),
        ("xn--zca.example", "xn--zca.example."),
        ("*.bücher.example", "*.xn--bcher-kva.example."),
    ],
)
def test_names_that_are_certain(text: str, name: str) -> None:
    assert name_of(text).to_text() == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\N{HEBREW LETTER ALEF}.example", "IDNA 2003 has no A-label for 'a\N{HEBREW LETTER ALEF}'; give it"),
        ("例え。\N{REPLACEMENT CHARACTER}", "IDNA 2003 has no A-label for '\N{REPLACEMENT CHARACTER}'"),
        ("straße.example", "ß in it makes different names by IDNA 2003 and IDNA 2008; give it as"),
        ("a\N{ZERO WIDTH JOINER}b.example", "U+200D in it makes different names"),
        ("b\udcfccher.example", "'b?cher.example' is no domain name: it is not in UTF-8; give it as"),
        ("ü" * 64 + ".example", "A DNS label is > 63 octets long"),
        ("ü..example", "A DNS label is empty"),
    ],
)
def test_names_that_are_not(text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        name_of(text)
    assert said in str(raised.value)


@pytest.mark.parametrize("option", ["--zone", "--secure"])
def test_options_that_take_them(capsys: pytest.CaptureFixture[str], option: str) -> None:
    commands = {
        "--zone": ["authoritative", "192.0.2.1"],
        "--secure": ["resolver", "192.0.2.1", "--trust-anchor", __file__],
    }
    assert run_command_line(["verify", *commands[option], option, "a\N{HEBREW LETTER ALEF}.example"]) == 2
    assert "IDNA 2003 has no A-label" in capsys.readouterr().err
