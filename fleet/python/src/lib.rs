//! The check of sorted operations as a Python module: record batches in, record batches of verdicts out.

use std::fs;

use arrow_array::RecordBatch;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use omnilink_judge::{Judge, Unlimited};
use omnilink_keyed::{KeyedOptions, check_sorted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList};
use tempfile::TempDir;

/// Checks operations against one specification.
#[pyclass(frozen)]
struct Checker {
    judge: Judge,
    options: KeyedOptions,
    /// The files of the specification, if they were passed as text.
    _files: Option<TempDir>,
}

#[pymethods]
impl Checker {
    /// A checker for a built-in specification by name, or for a TLA+ module by path. With `files`, a dictionary of names
    /// and texts, the path is one of those names: nothing has to be installed on the machines of a cluster.
    #[new]
    #[pyo3(signature = (spec, *, by = "key", cut = None, files = None, level = None, max_width = None))]
    fn new(
        spec: &str,
        by: &str,
        cut: Option<u64>,
        files: Option<&Bound<'_, PyDict>>,
        level: Option<&str>,
        max_width: Option<usize>,
    ) -> PyResult<Checker> {
        let files = files.map(written).transpose()?;
        let spec =
            files.as_ref().map_or_else(|| spec.to_owned(), |files| files.path().join(spec).display().to_string());
        let level = level.map(str::parse).transpose().map_err(|error| PyValueError::new_err(format!("{error}")))?;
        let options =
            omnilink_judge::CheckOptions { level, max_width, jobs: Some(1), ..omnilink_judge::CheckOptions::default() };
        let judge = Judge::new(&spec, options).map_err(|failed| PyValueError::new_err(failed.message()))?;
        Ok(Checker {
            judge,
            options: KeyedOptions { by: by.to_owned(), cut, ..KeyedOptions::default() },
            _files: files,
        })
    }

    /// Checks record batches that are sorted by key, start and end; returns record batches with a row for each key.
    fn __call__<'py>(&self, py: Python<'py>, batches: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let batches: Py<PyIterator> = batches.try_iter()?.unbind();
        let verdicts = py.detach(|| {
            let mut batches = std::iter::from_fn(|| Python::attach(|py| next(py, &batches)));
            let mut verdicts: Vec<RecordBatch> = Vec::new();
            let mut emit = |batch| {
                verdicts.push(batch);
                Ok(())
            };
            check_sorted(&self.judge, &mut batches, &self.options, &Unlimited, &mut emit).map(|_| verdicts)
        });
        let verdicts = verdicts.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let verdicts = verdicts.iter().map(|batch| batch.to_pyarrow(py)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, verdicts)
    }
}

fn next(py: Python<'_>, batches: &Py<PyIterator>) -> Option<Result<RecordBatch, String>> {
    let batch = batches.bind(py).clone().next()?;
    Some(batch.and_then(|batch| RecordBatch::from_pyarrow_bound(&batch)).map_err(|error| error.to_string()))
}

/// The files of a specification in a directory of their own.
fn written(files: &Bound<'_, PyDict>) -> PyResult<TempDir> {
    let directory = tempfile::tempdir()?;
    for (name, text) in files.iter() {
        let name: String = name.extract()?;
        let is_plain = !name.is_empty() && !name.contains(['/', '\\']) && name != "..";
        if !is_plain {
            return Err(PyValueError::new_err(format!("`{name}` is not the name of a file")));
        }
        fs::write(directory.path().join(name), text.extract::<String>()?)?;
    }
    Ok(directory)
}

/// Checks whether a specification allows what a system did.
#[pymodule]
fn _omnilink(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Checker>()
}
