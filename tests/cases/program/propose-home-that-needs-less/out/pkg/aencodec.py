"""The encoder, which says what it is for."""

import torchaudio
from pkg.blocks import checkpoint


def encode(wave):
    return checkpoint(torchaudio.load, wave)
