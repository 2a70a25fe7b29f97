"""A model goes to another process as the path of its folder, if that has it as it is."""

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from oracle.common.errors import RnngError
from rnng_dy import load
from rnng_dy.text.segmenter import Segmenter
from tests.commands import PYTHON, run


def repr_of(model):
    return repr(model), model.store.arrays()["action_bias"].tolist()


@pytest.mark.filterwarnings("ignore")
def test_a_saved_model_is_the_same_in_another_process(parser, generator, tmp_path):
    parser.save(tmp_path / "m")
    generator.export(tmp_path / "g.rnng.zip", bits=8)
    models = [parser, load(tmp_path / "m"), load(tmp_path / "g.rnng.zip")]
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        assert [*executor.map(repr_of, models)] == [*map(repr_of, models)]


def test_a_model_that_its_folder_does_not_have_stays(parser, tagger, tmp_path):
    with pytest.raises(RnngError, match=r"save\(\) it first"):
        pickle.dumps(parser)
    parser.segmenter = Segmenter()
    parser.save(tmp_path / "m")
    arrays = parser.store.arrays()
    for change in (
        lambda model: setattr(model, "tagger", tagger),
        lambda model: setattr(model, "segmenter", Segmenter()),
        lambda model: model.store.load({**arrays, "action_bias": arrays["action_bias"] + 1}),
        lambda model: (tmp_path / "m" / "parameters.npz").unlink(),
    ):
        model = load(tmp_path / "m")
        pickle.dumps(model)
        change(model)
        with pytest.raises(RnngError, match=r"save\(\) it first"):
            pickle.dumps(model)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(RnngError, match=r"save\(\) it first"):
            copied(parser)


def test_a_notebook_draws_trees():
    """Imported under IPython, which is told how trees are drawn; nothing but rnng_dy and NLTK is needed."""
    code = (
        "import sys; from types import SimpleNamespace as N\n"
        "given = []\n"
        "by_name = N(for_type_by_name=lambda *of: given.append(of))\n"
        "shell = N(display_formatter=N(formatters={'image/svg+xml': by_name}))\n"
        "sys.modules['IPython'] = N(get_ipython=lambda: shell)\n"
        "import rnng_dy, nltk\n"
        "[(module, name, draw)] = given\n"
        "assert (module, name) == (nltk.Tree.__module__, 'Tree')\n"
        "print(draw(nltk.Tree.fromstring('(S (NP it) works)')))"
    )
    shown = run(None, code, command=PYTHON).stdout
    assert shown.startswith("<svg") and ">works<" in shown
