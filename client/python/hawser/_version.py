"""The version. A wheel has the one of core/base/process/version.h here."""

__version__ = "0+checkout"
