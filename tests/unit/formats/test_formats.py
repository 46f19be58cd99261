"""Every format is found by its file's name and says what it is."""

from __future__ import annotations

from fakes.records import make_record
from fstrial.formats.contract import formats
from fstrial.stats.analysis import analyse


def test_each_file_holds_the_format_of_its_name_and_writes_bytes() -> None:
    record = make_record(blocks=1)
    analysis = analyse(record)
    assert formats.names() == ("csv", "json", "plan")
    for name in formats.names():
        one = formats.load(name)
        assert one.name == name
        assert one.about
        assert all(suffix.startswith(".") for suffix in one.suffixes)
        assert isinstance(one.write(record, analysis), bytes)


def test_a_run_without_a_single_trial_can_be_written() -> None:
    record = make_record(blocks=0)
    for name in formats.names():
        assert formats.load(name).write(record, analyse(record))
