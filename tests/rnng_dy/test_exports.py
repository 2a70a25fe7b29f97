"""Archives of models give what their folders give, hold only what is needed, and are never written to."""

import pickle
import zipfile

import nltk
import numpy as np
import pytest

import rnng_dy
from oracle.common.errors import InputError, RnngError
from oracle.tagging import tags_by
from rnng_dy import DiscriminativeParser, model_folder
from rnng_dy.checkpoint import read_arrays
from rnng_dy.text.segmenter import Segmenter

from .conftest import make_parser

TREE = nltk.Tree.fromstring("(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat))))")
VECTORS = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -3.0]], np.float32)
NEEDED = {"config.json", "vocabulary.json", "parameters.npz", "about.json"}


@pytest.fixture
def parser(sentences, tagger):
    """A parser with everything that one can have."""
    parser = make_parser(sentences, vectors=(["the", "a"], VECTORS))
    parser.tagger, parser.segmenter, parser.updates = tagger, Segmenter(), 7
    parser.about = {"model": {"kind": "discriminative"}, "scores": {"f1": 87.5128, "updates": 7}}
    return parser


@pytest.fixture
def archive(parser, tmp_path):
    parser.export(tmp_path / "m.rnng.zip")
    return tmp_path / "m.rnng.zip"


def changed(path, name, content):
    """The archive with another content of one member, or without it for None."""
    with zipfile.ZipFile(path) as old:
        contents = {member: old.read(member) for member in old.namelist()} | {name: content}
    with zipfile.ZipFile(path, "w") as new:
        for member, written in contents.items():
            if written is not None:
                new.writestr(member, written)


def test_an_archive_gives_what_the_folder_gives_to_the_bit(parser, archive, tmp_path):
    parser.save(tmp_path / "folder")
    for read in (rnng_dy.load, rnng_dy.Parser.load, DiscriminativeParser.load):
        folder, packed_ = read(tmp_path / "folder"), read(archive)
        assert packed_.log_prob(TREE) == folder.log_prob(TREE)
        assert packed_.parse_one(["the", "dog", "saw"]) == folder.parse_one(["the", "dog", "saw"])
        assert (packed_.updates, packed_.config()) == (7, folder.config())
        assert packed_.segmenter.conventions == folder.segmenter.conventions
        assert packed_.tags_for(["a", "cat"]) == tags_by(parser.tagger, ["a", "cat"])
        assert np.array_equal(packed_.vectors, VECTORS)
        np.testing.assert_equal(packed_.store.arrays(), folder.store.arrays())


def test_it_holds_what_use_needs_and_nothing_of_the_training(parser, tmp_path):
    parser.save(tmp_path / "m")
    for name in ("training.npz", "log.jsonl", "clusters.paths", "mine.json", "my.npz"):
        (tmp_path / "m" / name).write_text("{}")
    (tmp_path / "m" / "data").mkdir()
    (tmp_path / "m" / "data" / "train.oracle").write_text("# (S)")
    (tmp_path / "m" / "data" / "mine.json").write_text("{}")
    rnng_dy.load(tmp_path / "m").export(tmp_path / "m.zip")
    names = set(zipfile.ZipFile(tmp_path / "m.zip").namelist())
    others = {name for name in names if not name.startswith("tagger/")}
    assert others == {*NEEDED, "vectors.npz", "text.json"}
    assert len(names) == len(NEEDED) + 2 + 3


def test_the_same_model_gives_the_same_bytes(parser, archive, tmp_path):
    rnng_dy.load(archive).export(tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_16_bits_are_float16(parser, archive, tmp_path):
    parser.export(tmp_path / "half.zip", bits=16)
    whole, half = (zipfile.Path(path) for path in (archive, tmp_path / "half.zip"))
    for name in ("parameters.npz", "vectors.npz"):
        expected, arrays = read_arrays(whole / name), read_arrays(half / name)
        for key in expected.keys() - {"updates"}:
            assert arrays[key].dtype == np.float16
            assert np.array_equal(arrays[key], expected[key].astype(np.float16))
        assert arrays.get("updates") == expected.get("updates")
    again = rnng_dy.load(tmp_path / "half.zip")
    assert again.log_prob(TREE) == pytest.approx(parser.log_prob(TREE), rel=1e-2)
    assert again.about["model"]["arrays"] == "16 bits"
    assert again.updates == 7
    # the rounded numbers are exact in float32: a folder of them is the same model
    again.save(tmp_path / "saved")
    assert rnng_dy.load(tmp_path / "saved").log_prob(TREE) == again.log_prob(TREE)


def test_8_bits_are_within_half_a_step_of_each_row(parser, archive, tmp_path):
    parser.store.lookups[next(iter(parser.store.lookups))].init_row(0, [0.0] * 10)
    expected = parser.store.arrays()
    parser.export(tmp_path / "small.zip", bits=8)
    again = rnng_dy.load(tmp_path / "small.zip")
    for name, values in again.store.arrays().items():
        rows = np.abs(expected[name]).max(axis=-1, keepdims=True)
        eight = values.ndim == 2 and name != "action_weights"
        step = rows / 127 if eight else rows * 2**-10
        assert (np.abs(values - expected[name]) <= step / 2 + 1e-7).all()
    assert again.log_prob(TREE) == pytest.approx(parser.log_prob(TREE), rel=1e-2)
    again.export(tmp_path / "again.zip", bits=16)
    for read in (again, rnng_dy.load(tmp_path / "again.zip")):
        assert (read.about["model"]["arrays"], read.updates) == ("8 bits", 7)
    assert (tmp_path / "small.zip").stat().st_size < 0.75 * archive.stat().st_size


@pytest.mark.parametrize("damage", [lambda scales: scales[:-1], lambda scales: None])
def test_scales_that_do_not_fit_are_an_error(parser, tmp_path, damage):
    parser.export(tmp_path / "m.zip", bits=8)
    with zipfile.ZipFile(tmp_path / "m.zip") as archive:
        archive.extractall(tmp_path / "m")
    path = tmp_path / "m" / "parameters.npz"
    with np.load(path) as file:
        arrays = dict(file)
    scales = next(name for name in arrays if name.startswith("scales/"))
    left = damage(arrays.pop(scales))
    np.savez(path, **arrays, **({} if left is None else {scales: left}))
    with pytest.raises(RnngError, match=r"m/parameters\.npz"):
        rnng_dy.load(tmp_path / "m")


def test_numbers_that_float16_cannot_hold_are_refused_and_leave_no_file(parser, tmp_path):
    name = next(iter(parser.store.dense))
    values = parser.store.arrays()[name]
    values.flat[0] = 70_000
    parser.store.dense[name].set_value(values)
    with pytest.raises(RnngError, match=rf"{name} holds numbers over 65504"):
        parser.export(tmp_path / "half.zip", bits=16)
    assert list(tmp_path.iterdir()) == []
    parser.export(tmp_path / "whole.zip")


def test_other_bits_are_refused(parser, tmp_path):
    with pytest.raises(RnngError, match="64 bits: a parameter has 32, 16 or 8"):
        parser.export(tmp_path / "wide.zip", bits=64)
    assert list(tmp_path.iterdir()) == []


def test_terms_go_with_the_model(parser, tmp_path):
    parser.export(tmp_path / "a.zip", licence="CC BY 4.0", data="my treebank")
    again = rnng_dy.load(tmp_path / "a.zip")
    assert again.about == {**parser.about, "terms": {"licence": "CC BY 4.0", "data": "my treebank"}}
    again.export(tmp_path / "b.zip", licence="none")
    terms = rnng_dy.load(tmp_path / "b.zip").about["terms"]
    assert terms == {"licence": "none", "data": "my treebank"}


# what is wrong with a member


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("config.json", b"{", "m.rnng.zip/config.json: "),
        ("config.json", None, "m.rnng.zip is no model folder, since it has no config.json"),
        ("vocabulary.json", b"{}", "m.rnng.zip/vocabulary.json: "),
        ("vocabulary.json", None, "m.rnng.zip/vocabulary.json"),
        ("parameters.npz", b"PK", "m.rnng.zip/parameters.npz: "),
        ("parameters.npz", None, "m.rnng.zip/parameters.npz: "),
        ("vectors.npz", None, "m.rnng.zip/vectors.npz: "),
        ("about.json", b"[]", "m.rnng.zip/about.json: "),
        ("text.json", b"[]", "m.rnng.zip/text.json: "),
        ("tagger/averaged_perceptron_tagger_xxx.tagdict.json", None, "tagdict.json"),
    ],
)
def test_a_wrong_member_is_named(archive, name, content, says):
    changed(archive, name, content)
    with pytest.raises((RnngError, OSError)) as error:
        rnng_dy.load(archive)
    assert says in f"{getattr(error.value, 'filename', '')} {error.value}"


def test_arrays_are_never_unpickled(archive, tmp_path):
    flag = tmp_path / "executed"
    objects = np.array([Evil(str(flag))], dtype=object)
    np.savez(tmp_path / "evil.npz", stack_guard=objects)
    changed(archive, "parameters.npz", (tmp_path / "evil.npz").read_bytes())
    with pytest.raises(InputError, match=r"m.rnng.zip/parameters.npz: "):
        rnng_dy.load(archive)
    assert not flag.exists()
    with pytest.raises(FileExistsError):
        # the object would have done it
        flag.touch()
        pickle.loads(pickle.dumps(objects))


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "x")


# writing


def test_an_archive_is_not_written_to(parser, archive):
    before = archive.read_bytes()
    with pytest.raises(RnngError, match=r"is a file, and a folder is written here"):
        parser.save(archive)
    with pytest.raises(RnngError, match=r"is a file, and a folder is written here"):
        rnng_dy.train("discriminative", [TREE] * 9, hold_out=0.2, folder=archive, resume=True)
    assert archive.read_bytes() == before


# names


@pytest.fixture
def named(parser, tmp_path, monkeypatch):
    """Folders of models: `one` and `two`, both with `english`, and an empty working directory."""
    for name in ("one", "two", "data/rnng_dy/models", "work"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(model_folder, "SHIPPED", tmp_path / "absent")
    monkeypatch.setenv("RNNG_DY_MODELS", f"{tmp_path}/one::{tmp_path}/absent:{tmp_path}/two")
    parser.export(tmp_path / "one" / "english.rnng.zip")
    parser.save(tmp_path / "two" / "english")
    parser.save(tmp_path / "two" / "folder")
    parser.export(tmp_path / "data/rnng_dy/models" / "users.rnng.zip")
    (tmp_path / "one" / "other.zip").write_bytes(b"")
    (tmp_path / "one" / "notes").mkdir()
    (tmp_path / "two" / ".hidden.rnng.zip").write_bytes(b"")
    return tmp_path


def test_known_models_are_those_of_the_variable_and_the_data_folder(named):
    places = {"english": "one/english.rnng.zip", "folder": "two/folder"}
    places["users"] = "data/rnng_dy/models/users.rnng.zip"
    assert model_folder.known_models() == {name: named / at for name, at in places.items()}


def test_a_file_or_folder_of_the_working_directory_comes_before_a_name(named, sentences):
    other = make_parser(sentences, seed=5)
    other.save("english")
    assert rnng_dy.load("english").log_prob(TREE) == other.log_prob(TREE)
    (named / "work" / "users").write_text("no model")
    with pytest.raises(RnngError, match="users is a file, and a model is a folder or an archive"):
        rnng_dy.load("users")
