"""`rnng-dy models export`, `models` and `about`, and every command with an archive as its model."""

import io
import os
import re
import shutil
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rnng_dy import load, model_folder
from tests.commands import invoke, messages
from tests.plugin_state import no_plugins

from ..conftest import make_lm, make_parser, write_untrained

SMALL = "--hidden 8 --set lstm_input=8 --epochs 1"
TRAIN = f"train discriminative --trees some.trees --hold-out 0.2 --pos {SMALL}"


@pytest.fixture(scope="module")
def made(trees, generative_sentences, tmp_path_factory):
    """Models as folders and as archives of the same name, with a few trees and sentences."""
    folder = tmp_path_factory.mktemp("exported")
    write_untrained(folder, trees)
    make_lm(generative_sentences).save(folder / "lm")
    (folder / "in.txt").write_text("the_DT dog_NN ran_VBD ._.\n\nit_PRP works_VBZ\n")
    (folder / "words.txt").write_text("the dog ran .\n")
    for name in ("parser", "generator", "lm"):
        load(folder / name).export(folder / f"{name}.rnng.zip")
    return folder


@pytest.fixture(autouse=True)
def here(made, tmp_path, monkeypatch):
    """A copy of it, the current folder, without models that have a name."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("RNNG_DY_MODELS", raising=False)
    monkeypatch.setattr(model_folder, "SHIPPED", tmp_path / "shipped")


COMMANDS = """
parse --model parser in.txt --tagged --jobs 2
surprisal --model generator words.txt --beam 5
perplexity --model lm some.gen.oracle
models show parser
""".strip().splitlines()

SECONDS = re.compile(r"^seconds=.*", re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_the_same_with_the_archive(command, sentences):
    words = command.split()
    at = 2 if words[0] == "models" else words.index("--model") + 1
    folder = SECONDS.sub("", invoke(*words).stdout)
    words[at] += ".rnng.zip"
    packed_ = SECONDS.sub("", invoke(*words).stdout)
    assert folder
    if words[0] == "models":
        # the sizes differ, and the archive of a model without a card has one
        assert packed_.splitlines()[0] == folder.splitlines()[0]
    else:
        assert packed_.replace(words[at], words[at].removesuffix(".rnng.zip")) == folder


def test_export_says_size_and_what_it_leaves_out():
    invoke(*TRAIN.split(), "--model", "m")
    done = invoke("models", "export", "m", "-o", "m.rnng.zip")
    size = Path("m.rnng.zip").stat().st_size
    assert done.stdout == ""
    assert messages(done) == f"m.rnng.zip: {size / 1e6:.2f} MB, 32 bits\n"
    export = ("models", "export", "m.rnng.zip", "-o", "half.rnng.zip", "--bits", "16")
    first, second = messages(invoke(*export)).splitlines()
    assert first.endswith(" MB, 16 bits") and "measure again" in second
    assert Path("half.rnng.zip").stat().st_size < 0.7 * size
    about = model_folder.read_about("half.rnng.zip")
    assert "scores" not in about and about["corpus"] == model_folder.read_about("m")["corpus"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("models export absent -o m.zip", "there is no folder absent"),
        ("models export parser -o lm", "lm is a folder: name a file for the output"),
        ("models export parser -o parser/config.json", "parser/config.json is the input as well"),
        ("parse --model parser.rnng.zip in.txt -o parser.rnng.zip", "is the input as well"),
        ("models export parser -o none/m.zip", "there is no folder"),
        ("tag --train some.trees --into parser.rnng.zip", "archives are only read"),
        (f"{TRAIN} --model parser.rnng.zip --resume", "is a file, and a folder is written here"),
        ("parse --model cut.zip in.txt", "cut.zip is a file, and a model is a folder"),
    ],
)
def test_what_cannot_be_ends_with_2_and_says_what_to_do(command, says):
    whole = Path("parser.rnng.zip").read_bytes()
    Path("cut.zip").write_bytes(whole[:-30])
    before = sorted(os.listdir())
    assert says in invoke(*command.split(), code=2).stderr
    assert sorted(os.listdir()) == before
    assert Path("parser.rnng.zip").read_bytes() == whole


def link(name):
    """A link to /etc/passwd, as `zip -y` writes it."""
    member = zipfile.ZipInfo(name)
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("run.py", "", "'run.py' is no file of a model"),
        ("parser/config.json", "{}", "'parser/config.json' is no file of a model"),
        ("../out", "", "'../out' is no file of a model"),
        ("/etc/x", "", "'/etc/x' is no file of a model"),
        ("tagger/other.json", "{}", "'tagger/other.json' is no file of a model"),
        ("config.json", "{}", "a link, or two files of one name"),
        (link("spelling.json"), "/etc/passwd", "a link, or two files of one name"),
        ("spelling.json", " " * 10**7, "its contents are over 100 times its size"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_what_no_model_has_is_refused(name, content, says):
    with zipfile.ZipFile("parser.rnng.zip", "a") as archive:
        archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    for command in ("models show parser.rnng.zip", "parse --model parser.rnng.zip words.txt"):
        assert f"Error: parser.rnng.zip: {says}; " in invoke(*command.split(), code=2).stderr


def test_an_archive_of_version_0_3_is_read():
    with zipfile.ZipFile("parser.rnng.zip", "a") as archive:
        archive.writestr("README.md", "# Model card")
        archive.writestr("manifest.json", "{}")
    assert invoke("models", "show", "parser.rnng.zip").stdout


def test_arrays_of_an_archive_that_grow_twice_are_refused():
    with zipfile.ZipFile("lm.rnng.zip") as whole, zipfile.ZipFile("m.zip", "w") as archive:
        for name in whole.namelist():
            content = io.BytesIO(whole.read(name))
            if name == "parameters.npz":
                np.savez_compressed(content, x=np.zeros(10**7))
            archive.writestr(name, content.getvalue())
    said = invoke("models", "show", "m.zip", code=2).stderr
    assert "m.zip/parameters.npz: compressed arrays" in said


@pytest.mark.parametrize("mark", [b"PK\1\2", b"PK\5\6"])
def test_a_damaged_archive_among_the_models_is_one_message(monkeypatch, mark):
    content = bytearray(Path("parser.rnng.zip").read_bytes())
    # the list of members, or the place that the end of the archive gives for it
    content[content.rindex(mark) + (18 if mark == b"PK\5\6" else 0)] ^= 1
    Path("one").mkdir()
    Path("one/bad.rnng.zip").write_bytes(content)
    monkeypatch.setenv("RNNG_DY_MODELS", "one")
    assert "bad is left out: one/bad.rnng.zip" in invoke("models").stderr
    said = invoke("parse", "--model", "bad", "in.txt", "--tagged", code=2).stderr
    assert said.startswith("Error: one/bad.rnng.zip") and said.count("\n") == 1


def test_a_model_that_needs_a_plugin_names_it():
    Path("mine.py").write_text(PLUGIN)
    with no_plugins():
        invoke(*f"--plugin mine.py {TRAIN} --composition mine --model m".split())
        said = invoke("models", "export", "m", "-o", "m.rnng.zip").stderr
        assert "left out: the plugin mine.py, which users of the model need: send it along" in said
        parsed = invoke("parse", "--model", "m", "in.txt", "--tagged").stdout
        assert invoke("parse", "--model", "m.rnng.zip", "in.txt", "--tagged").stdout == parsed
    assert "mine.py" not in zipfile.ZipFile("m.rnng.zip").namelist()
    with no_plugins():
        said = invoke("parse", "--model", "m.rnng.zip", "in.txt", code=2).stderr
    assert "m.rnng.zip/config.json: this model needs the plugin mine.py: " in said


PLUGIN = """
from rnng_dy.models.composition import COMPOSITIONS, CorrectedComposition

@COMPOSITIONS.register
class Mine(CorrectedComposition):
    name = "mine"
"""


# models and about


def test_models_lists_what_has_a_name(monkeypatch, sentences):
    done = invoke("models")
    assert done.stdout == ""
    assert "no models in" in done.stderr and "data/rnng_dy/models" in done.stderr
    Path("one").mkdir()
    parser = make_parser(sentences)
    parser.about = {"model": {"kind": "discriminative"}, "scores": {"f1": 87.5128}}
    parser.export("one/english.rnng.zip", bits=16)
    parser.save("one/folder")
    Path("one/broken.rnng.zip").write_bytes(b"PK")
    monkeypatch.setenv("RNNG_DY_MODELS", "one")
    done = invoke("models")
    english, folder = (line.split() for line in done.stdout.splitlines())
    assert (english[0], folder[0]) == ("english", "folder")
    size = Path("one/english.rnng.zip").stat().st_size
    assert english[1:4] == ["discriminative", f"{size / 1e6:.2f}", "MB"]
    assert folder[-1] == "one/folder"
    says = "broken is left out: one/broken.rnng.zip is a file, and a model is a folder"
    assert says in done.stderr


def test_commands_take_a_model_by_name(monkeypatch):
    parsed = invoke("parse", "--model", "parser", "in.txt", "--tagged").stdout
    by_name = ("parse", "--model", "english", "in.txt", "--tagged")
    Path("data/rnng_dy/models").mkdir(parents=True)
    Path("parser.rnng.zip").rename("data/rnng_dy/models/english.rnng.zip")
    for jobs in (1, 2):
        assert invoke(*by_name, "--jobs", jobs).stdout == parsed
    archive = "data/rnng_dy/models/english.rnng.zip"
    refused = invoke("parse", "--model", "english", "in.txt", "-o", archive, code=2)
    assert f"{archive} is the input as well" in refused.stderr
    measured = invoke("surprisal", "--model", "generator", "words.txt", "--beam", 5).stdout
    missing = invoke("surprisal", "--model", "english", "words.txt", "--beam", 5, code=2).stderr
    assert "english is a parser, which gives words no probability" in missing
    Path("generator.rnng.zip").rename("data/rnng_dy/models/english-generative.rnng.zip")
    assert invoke("surprisal", "--model", "english", "words.txt", "--beam", 5).stdout == measured
    assert invoke(*by_name).stdout == parsed
    unknown = invoke("parse", "--model", "englsh", "in.txt", code=2).stderr
    assert unknown.strip().endswith("`rnng-dy models` lists: english, english-generative")
    Path("english").mkdir()
    assert invoke(*by_name).stdout == parsed
    Path("english").rmdir()
    Path("parser").rename("english")
    hidden = "english is the one here, not the model of this name at "
    assert hidden + str(Path(archive).resolve()) in invoke(*by_name).stderr


def test_about_shows_terms_and_size_of_an_archive():
    terms = ("--licence", "CC BY 4.0", "--data", "my|trees")
    invoke("models", "export", "parser", "-o", "m.zip", *terms)
    size = Path("m.zip").stat().st_size
    about = invoke("models", "show", "m.zip").stdout
    assert f"\nsize: {size / 1e6:.2f} MB\n" in about and "not stated" not in about
    assert "\nterms:\n  licence: CC BY 4.0\n  data: my|trees\n" in about
    assert "licence: not stated" in invoke("models", "show", "parser.rnng.zip").stdout
