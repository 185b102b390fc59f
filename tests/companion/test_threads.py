from threadpoolctl import threadpool_info

from companion.threads import one_matrix_thread


def test_no_matrix_library_divides_its_work() -> None:
    one_matrix_thread()
    assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
