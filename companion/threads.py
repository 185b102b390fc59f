"""How many threads the libraries under the eyes may take."""

from importlib import import_module

from threadpoolctl import threadpool_limits


def one_matrix_thread() -> None:
    """Products of matrices are made by the thread that asks for them, in this process from now on.

    The eyes' matrices are small. Left alone, numpy's library divides each among as many threads as there are cores;
    where the cores are busy these wait for one another, which makes reading figures four times slower.
    """
    import_module("cv2")  # and numpy with it: only a library that is loaded can be told
    threadpool_limits(limits=1, user_api="blas")
