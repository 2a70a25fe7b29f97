"""Archives: what is packed is read again, and everything else is refused with the names of file and member."""

from __future__ import annotations

import io
import json
import stat
import zipfile
import zlib
from hashlib import sha256

import pytest

from oracle import archives
from oracle.archives import MANIFEST, UNCHECKED, Archive, Member, is_there, packed, read_regular
from oracle.errors import InputError

CONTENTS = {"config.json": b"{}", "tagger/tags.json": b'["NN"]', "empty": b""}
LINK, PIPE = stat.S_IFLNK | 0o777, stat.S_IFIFO | 0o644


def manifest(contents, **changed):
    listed = {name: {"sha256": sha256(content).hexdigest()} for name, content in contents.items()}
    whole = {"format": archives.FORMAT, "version": archives.VERSION, "members": listed}
    return json.dumps({**whole, **changed}).encode()


def write(path, contents, added=(), listed=None):
    """An archive with a manifest (of `listed` or all contents), and more members: (name or ZipInfo, content)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
        if MANIFEST not in contents:
            archive.writestr(MANIFEST, manifest(contents if listed is None else listed))
        for name, content in added:
            archive.writestr(name, content)
    return path


def all_read(path):
    return dict(Archive(path))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.rnng.zip"


def test_what_is_packed_is_read_again(path):
    path.write_bytes(packed(CONTENTS))
    assert all_read(path) == CONTENTS
    root = Member(Archive(path), str(path))
    assert read_regular(root / "tagger" / "tags.json") == b'["NN"]'
    assert {name: file.read_bytes() for name, file in root.files().items()} == CONTENTS
    assert (root / "tagger").is_dir() and not (root / "tagger").is_file()
    assert is_there(root / "tagger") and not is_there(root / "tag") and root.is_dir()
    assert str(root / "tagger") == f"{path}/tagger"
    with pytest.raises(FileNotFoundError) as missing:
        read_regular(root / "absent")
    assert missing.value.filename == f"{path}/absent"


def test_equal_contents_give_equal_bytes_whatever_their_order():
    assert packed(CONTENTS) == packed(dict(reversed(CONTENTS.items())))


def test_other_programs_can_unpack_it(path, tmp_path):
    path.write_bytes(packed(CONTENTS))
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "out")
    assert {n: (tmp_path / "out" / n).read_bytes() for n in CONTENTS} == CONTENTS
    listed = json.loads((tmp_path / "out" / MANIFEST).read_text())["members"]
    assert {name: entry["bytes"] for name, entry in listed.items()} == {
        name: len(content) for name, content in CONTENTS.items()
    }


def test_an_archive_packed_anew_by_another_program_with_entries_for_folders_is_read(path):
    write(path, CONTENTS, [("tagger/", b"")])
    assert all_read(path) == CONTENTS


@pytest.mark.parametrize(
    "name",
    ["/etc/x", "../x", "a/../x", "..", "./x", "a//b", "..\\x", "C:x", "/", "../", "a\0.json"],
)
def test_a_name_that_leaves_the_folder_is_refused(path, name):
    info = zipfile.ZipInfo("x" * len(name))
    write(path, CONTENTS, [(info, b"")])
    # zipfile itself would change some of these names while writing
    written = path.read_bytes().replace(b"x" * len(name), name.encode())
    assert written.count(name.encode()) >= 2
    path.write_bytes(written)
    with pytest.raises(InputError) as error:
        Archive(path)
    assert str(error.value).startswith(f"{path}/{name}: damaged (the name is no path below")


@pytest.mark.parametrize("mode", [LINK, PIPE])
def test_links_and_pipes_are_refused(path, mode):
    info = zipfile.ZipInfo("link")
    info.external_attr = mode << 16
    write(path, CONTENTS, [(info, b"/etc/passwd")])
    with pytest.raises(InputError, match=r"m.rnng.zip/link: damaged \(it is a link"):
        Archive(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["config.json", MANIFEST])
def test_two_members_of_one_name_are_refused(path, name):
    write(path, CONTENTS, [(name, b"another")])
    with pytest.raises(InputError, match=rf"m.rnng.zip/{name}: damaged \(two members"):
        Archive(path)


def test_an_encrypted_member_is_refused(path):
    content = bytearray(write(path, {"a": b""}).read_bytes())
    # bit 0 of the flags in the entry of the central directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"m.rnng.zip/a: damaged \(it is encrypted"):
        Archive(path)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_packed_in_another_way_is_refused(path, packing):
    info = zipfile.ZipInfo("a")
    info.compress_type = packing
    write(path, CONTENTS, [(info, b"a")])
    with pytest.raises(InputError, match=r"m.rnng.zip/a: damaged .*neither stored nor deflated"):
        Archive(path)


def test_what_unpacks_to_far_more_is_refused_before_it_is_unpacked(path, monkeypatch):
    write(path, {"zeros.npz": bytes(2 * UNCHECKED)})
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    with pytest.raises(InputError, match=r"m.rnng.zip: damaged \(it unpacks to over 100 times"):
        Archive(path)


def test_zeros_up_to_some_megabytes_are_no_bomb(path):
    contents = {"zeros": bytes(UNCHECKED - 1000)}
    path.write_bytes(packed(contents))
    assert all_read(path) == contents


def test_a_bomb_of_arrays_within_the_archive_is_refused(path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as arrays:
        arrays.writestr("zeros.npy", bytes(2 * UNCHECKED))
    path.write_bytes(packed({"parameters.npz": stream.getvalue()}))
    with pytest.raises(InputError, match=r"m.rnng.zip/parameters.npz: damaged \(it unpacks to"):
        all_read(path)


def test_a_member_that_is_larger_than_it_says_is_refused(path):
    """Its size is changed to 10 in both headers, so that the sum of sizes looks harmless."""
    content = write(path, {"a": bytes(1 << 20)}).read_bytes()
    size = (1 << 20).to_bytes(4, "little")
    path.write_bytes(content.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(InputError, match=r"m.rnng.zip/a: damaged"):
        all_read(path)


def test_another_content_than_that_of_the_manifest_is_refused(path):
    write(path, {**CONTENTS, "a": b"new"}, listed={**CONTENTS, "a": b"old"})
    with pytest.raises(InputError, match=r"m.rnng.zip/a: damaged \(its SHA-256"):
        all_read(path)


def test_a_member_whose_bytes_are_changed_is_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a", b"content of a")
        archive.writestr(MANIFEST, manifest({"a": b"content of a"}))
    path.write_bytes(path.read_bytes().replace(b"content of a", b"content of b"))
    with pytest.raises(InputError, match=r"m.rnng.zip/a: damaged \(Bad CRC"):
        all_read(path)


@pytest.mark.parametrize("missing", [*CONTENTS])
def test_a_missing_member_is_named(path, missing):
    write(path, {n: c for n, c in CONTENTS.items() if n != missing}, listed=CONTENTS)
    with pytest.raises(InputError, match=rf"m.rnng.zip/{missing}: damaged \(it is missing"):
        Archive(path)


def test_a_member_that_the_manifest_does_not_list_is_refused(path):
    write(path, CONTENTS, [("more", b"")])
    with pytest.raises(InputError, match=r"m.rnng.zip/more: damaged \(manifest.json does not"):
        Archive(path)


def test_a_zip_file_without_a_manifest_says_what_to_do(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(InputError, match=r"m.rnng.zip: it has no manifest.json.*: .* unpack it"):
        Archive(path)


@pytest.mark.parametrize("version", [2, 0, "1", None])
def test_another_version_of_the_format_says_what_to_do(path, version):
    write(path, {MANIFEST: manifest(CONTENTS, version=version, members="of the future")})
    with pytest.raises(InputError, match=rf"format {version}, this one reads 1\): install that"):
        Archive(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 10**5,
        manifest(CONTENTS, format="zip"),
        manifest(CONTENTS, members=["config.json"]),
        manifest(CONTENTS, members={"config.json": "hash"}),
        manifest(CONTENTS, members={"config.json": {}}),
    ],
)
def test_a_damaged_manifest_is_refused(path, content):
    write(path, {**CONTENTS, MANIFEST: content})
    with pytest.raises(InputError, match=r"m.rnng.zip/manifest.json: damaged"):
        Archive(path)


def test_an_archive_that_is_cut_short_anywhere_is_refused(path):
    whole = packed(CONTENTS)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"m.rnng.zip: damaged"):
            Archive(path)


def test_an_archive_with_any_byte_changed_is_refused_or_reads_the_same(path):
    whole = packed({"config.json": b'{"a": 1}', "b.npz": zlib.compress(b"b" * 50)})
    refused = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            assert all_read(path)["config.json"] == b'{"a": 1}'
        except InputError as error:
            assert str(error).startswith(str(path))
            refused += 1
    assert refused > len(whole) / 2


def test_an_archive_stays_whole_while_it_is_replaced(path, tmp_path):
    path.write_bytes(packed(CONTENTS))
    archive = Archive(path)
    (tmp_path / "new").write_bytes(packed({"config.json": b"new"}))
    (tmp_path / "new").replace(path)
    assert dict(archive) == CONTENTS
