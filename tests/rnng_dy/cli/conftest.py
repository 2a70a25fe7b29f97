"""A model of each kind, made once, for commands that run beside a copy."""

import shutil

import pytest

from ..conftest import make_generator, make_lm, make_parser, save_oracle


@pytest.fixture(scope="session")
def made_models(tmp_path_factory, sentences, generative_sentences):
    """A folder with untrained models and the oracle of their words."""
    folder = tmp_path_factory.mktemp("models")
    make_generator(generative_sentences, seed=5).save(folder / "generator")
    make_parser(sentences).save(folder / "parser")
    make_lm(generative_sentences).save(folder / "lm")
    save_oracle(folder / "train.oracle", generative_sentences)
    return folder


@pytest.fixture
def models(made_models, here):
    """A copy of it, the current folder."""
    shutil.copytree(made_models, here, dirs_exist_ok=True)
    return here
