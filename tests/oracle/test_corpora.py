"""Which files of a treebank are read."""

import nltk.corpus
import nltk.data
import pytest
from nltk.corpus.reader import BracketParseCorpusReader
from nltk.corpus.util import LazyCorpusLoader

from oracle.common.errors import InputError, RnngError
from oracle.corpora import READERS, parse_sections


def words_read(trees):
    return [located.tree.leaves()[0] for located in trees]


@pytest.fixture
def wsj(tmp_path):
    """Files of one tree, whose word is the file's name."""
    for name in ["00/wsj_0001", "02/wsj_0201", "02/wsj_0299", "21/wsj_2101", "24/wsj_2400"]:
        path = tmp_path / "wsj" / f"{name}.mrg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"\n( (S (NN {path.stem}) ))\n")
    (tmp_path / "wsj" / "02" / "readme.txt").write_text("no tree")
    return tmp_path / "wsj"


def test_a_folder_gives_its_mrg_files_in_order(wsj):
    names = sorted(path.stem for path in wsj.rglob("*.mrg"))
    assert words_read(READERS["ptb"]().read([wsj])) == names and len(names) == 5


def test_sections_are_the_first_two_digits(wsj):
    assert words_read(READERS["ptb"]().read([wsj], "2,21")) == ["wsj_0201", "wsj_0299", "wsj_2101"]
    assert words_read(READERS["ptb"]().read([wsj], "00,24")) == ["wsj_0001", "wsj_2400"]


def test_a_file_that_does_not_say_its_section_is_in_its_folders(wsj):
    (wsj / "03").mkdir()
    (wsj / "03" / "all.mrg").write_text("( (S (NN all)))")
    assert words_read(READERS["ptb"]().read([wsj], "3")) == ["all"]


def test_numbered_folders_beside_those_of_the_wsj_are_no_sections(wsj):
    for folder in ("swbd/2", "wsj/03"):
        (wsj.parent / folder).mkdir(parents=True)
        (wsj.parent / folder / "other.mrg").write_text(f"( (S (NN {folder})))")
    found = words_read(READERS["ptb"]().read([wsj.parent], "2-3"))
    assert found == ["wsj_0201", "wsj_0299", "wsj/03"]


def test_a_file_that_is_there_packed_and_unpacked_is_refused(wsj):
    (wsj / "02" / "wsj_0201.mrg.gz").touch()
    with pytest.raises(InputError, match=r"wsj_0201.mrg: here twice, packed and unpacked"):
        list(READERS["ptb"]().read([wsj]))


def test_a_numbered_file_that_is_there_in_two_folders_is_refused(tmp_path):
    for folder in ("utf8", "gbk"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "chtb_0001.fid").write_text("( (S (NN a)))")
    with pytest.raises(InputError, match=r"chtb_0001\.fid: here twice"):
        list(READERS["ctb"]().read([tmp_path]))


def test_folders_behind_links_are_read(wsj, tmp_path):
    (wsj / "21").rename(tmp_path / "elsewhere")
    (wsj / "21").symlink_to(tmp_path / "elsewhere")
    assert words_read(READERS["ptb"]().read([wsj], "21,24")) == ["wsj_2101", "wsj_2400"]


def test_a_file_of_any_name_can_be_given(tmp_path):
    path = tmp_path / "trees"
    path.write_text("( (S (NN a)))")
    assert words_read(READERS["ptb"]().read([path])) == ["a"]


def test_nothing_to_read_is_an_error(wsj):
    with pytest.raises(RnngError, match="none of the 5 files is in sections 5-9"):
        list(READERS["ptb"]().read([wsj], "5-9"))
    with pytest.raises(RnngError, match="sections 2,20-21: no file is of section 20: copy"):
        list(READERS["ptb"]().read([wsj], "2,20-21"))
    with pytest.raises(RnngError, match=r"no \.mrg"):
        list(READERS["ctb"]().read([wsj]))


def test_ctb_files_are_read_in_either_encoding_by_number(tmp_path):
    texts = {
        "chtb_001.fid": "<S ID=1>\n( (IP (NN 上海)))\n</S>\n".encode("gb18030"),
        "chtb_0300.nw": "( (IP (NN 浦东)))\n".encode(),
        **dict.fromkeys(["chtb_0300.nw.seg", "chtb_0300.nw~"], "浦东\n".encode()),
        "chtb_1151.bn": "( (IP (NN 建设)))\n".encode(),
    }
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content)
    assert words_read(READERS["ctb"]().read([tmp_path])) == ["上海", "浦东", "建设"]
    assert words_read(READERS["ctb"]().read([tmp_path], "1-270,1000-1151")) == ["上海", "建设"]


def test_an_encoding_that_is_named_is_the_only_one_tried(tmp_path):
    (tmp_path / "chtb_001.fid").write_bytes("( (IP (NN 上海)))".encode("gb18030"))
    with pytest.raises(RnngError, match="not utf-8"):
        list(READERS["ctb"]().read([tmp_path], encoding="utf-8"))


@pytest.mark.parametrize("sections", ["", "a", "2-", "5-3", "1,,2", "-3", "1-2-3", "²"])
def test_sections_that_are_none_are_refused(sections):
    with pytest.raises(RnngError, match="no number or range"):
        parse_sections(sections)


@pytest.fixture
def treebank(tmp_path, monkeypatch):
    """The folder of NLTK's sample, still empty."""
    folder = tmp_path / "corpora" / "treebank" / "combined"
    folder.mkdir(parents=True)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    loader = LazyCorpusLoader("treebank/combined", BracketParseCorpusReader, r"wsj_.*\.mrg")
    monkeypatch.setattr(nltk.corpus, "treebank", loader)
    return folder


def test_without_nltks_sample_the_error_says_how_to_get_it(treebank):
    treebank.rmdir()
    with pytest.raises(RnngError, match=r"nltk\.downloader treebank"):
        list(READERS["nltk"]().read())


def test_nltks_sample_is_selected_by_file(treebank):
    for number in (1, 2, 199):
        (treebank / f"wsj_{number:04}.mrg").write_text(f"( (S (NN {number})))\n" * 2)
    located = list(READERS["nltk"]().read(sections="2-199"))
    assert words_read(located) == ["2", "2", "199", "199"]
    assert located[1].line == 2
    assert located[1].path.endswith("wsj_0002.mrg")
    for sections in ("3-5", "198-250"):
        with pytest.raises(RnngError, match=f"no file {sections}"):
            list(READERS["nltk"]().read(sections=sections))
