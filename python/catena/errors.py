"""What catena raises beside ValueError and TypeError."""


class FileError(OSError, ValueError):
    """A file that cannot be read, does not hold what it should, or cannot be written.

    >>> import catena
    >>> try:
    ...     catena.load("nowhere.safetensors")
    ... except catena.FileError:
    ...     print("no such model")
    no such model
    """


class SamplingFailure(ArithmeticError):
    """No posterior came out: no draw is finite, or the draws of a second round are worth too few under the true prior.

    >>> import catena
    >>> issubclass(catena.SamplingFailure, ArithmeticError)
    True
    """
