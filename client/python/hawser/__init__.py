"""hawser: programs compute on a GPU elsewhere, and on this CPU when it is gone.

Installed beside JAX this package is a plugin of it:

    HAWSER_SERVERS=gpu-1:7070 JAX_PLATFORMS=hawser,cpu python train.py

`hawser.jax_plugin` has what JAX calls; `python -m hawser` says which servers
there are and what they compute on.
"""

from hawser._version import __version__

__all__ = ["__version__"]
