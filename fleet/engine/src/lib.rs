//! Checks operations by key on DataFusion, which partitions, sorts and spills them.
//!
//! ```text
//!  ops/*.parquet, s3://bucket/ops ── scan, filter ──► repartition by key ──► sort by key and start ──► CheckExec
//!                                                                                                     │
//!                                                                             a verdict for each key ◄┘
//! ```
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use omnilink_judge::{Judge, Unlimited};
//! use omnilink_fleet::Job;
//!
//! let judge = Judge::new("register", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
//! let summary = Job::new(["ops".into()], "key").check(Arc::new(judge), Arc::new(Unlimited), |_| Ok(()))?;
//! println!("{} of {} keys are rejected", summary.rejected, summary.keys);
//! # Ok::<(), omnilink_fleet::Error>(())
//! ```
//!
//! The operator is [`CheckExec`]; the check is [`omnilink_keyed::check_sorted`]. Nothing else here knows about either.

mod exec;

pub use datafusion::arrow;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::options::ParquetReadOptions;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::cast;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, execute_stream};
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext, col, ident};
use futures::StreamExt;
use object_store::aws::AmazonS3Builder;
use omnilink_history::Stop;
use omnilink_judge::{Judge, Limits};
pub use omnilink_keyed::Summary;
use thiserror::Error;

pub use crate::exec::CheckExec;
use crate::exec::{Work, ordering};

/// The operations to check, and the means.
#[derive(Clone, Debug)]
pub struct Job {
    /// Parquet files and directories of them: paths, or `s3://` addresses.
    pub inputs: Vec<String>,
    /// A condition in SQL on the operations to check.
    pub filter: Option<String>,
    /// The column with the key.
    pub by: String,
    /// Verdicts of an earlier check, whose carried states the keys begin with.
    pub after: Vec<String>,
    /// A time before which no later operation starts: the verdicts carry the states that a later check needs.
    pub cut: Option<u64>,
    /// The memory for sorting, in bytes. The engine writes the rest to temporary files.
    pub memory: usize,
    /// The number of partitions checked at once.
    pub jobs: usize,
    /// The directory for temporary files; if `None`, that of the system.
    pub scratch: Option<PathBuf>,
}

/// The reason why the check as a whole failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The engine could not read, sort or partition the operations.
    #[error("{0}")]
    Engine(String),
    /// A limit was reached; these keys have verdicts.
    #[error("{0}")]
    Stopped(Stop, Summary),
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Error {
        Error::Engine(error.strip_backtrace())
    }
}

/// The columns that a check reads, if they are there.
const READ: [&str; 9] = ["process", "action", "arguments", "results", "start", "end", "latest", "outcome", "metadata"];

impl Job {
    /// Checks the operations in these files by key, with 1 GiB for sorting, on all cores.
    pub fn new(inputs: impl IntoIterator<Item = String>, by: &str) -> Job {
        Job {
            inputs: inputs.into_iter().collect(),
            filter: None,
            by: by.to_owned(),
            after: Vec::new(),
            cut: None,
            memory: 1 << 30,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            scratch: None,
        }
    }

    /// Checks all keys. Each batch of verdicts goes to `sink`, with the columns of [`omnilink_keyed::verdicts`].
    pub fn check(
        &self,
        judge: Arc<Judge>,
        limits: Arc<dyn Limits + Send + Sync>,
        mut sink: impl FnMut(RecordBatch) -> Result<(), String>,
    ) -> Result<Summary, Error> {
        let options = omnilink_keyed::KeyedOptions {
            by: self.by.clone(),
            cut: self.cut,
            ..omnilink_keyed::KeyedOptions::default()
        };
        let work = Arc::new(Work { judge, options, limits, summary: Mutex::default(), stop: Mutex::default() });
        let checked = self.run(async {
            let session = self.session()?;
            let plan = CheckExec::new(self.sorted(&session).await?, work.clone())?;
            let mut verdicts = execute_stream(Arc::new(plan), session.task_ctx())?;
            while let Some(batch) = verdicts.next().await {
                sink(batch?).map_err(Error::Engine)?;
            }
            Ok(())
        });
        let summary = *work.summary.lock().unwrap_or_else(PoisonError::into_inner);
        match *work.stop.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(stop) => Err(Error::Stopped(stop, summary)),
            None => checked.map(|()| summary),
        }
    }

    /// Reads the operations like a check, without checking: this measures the cost of the engine itself.
    pub fn sort_only(&self, mut sink: impl FnMut(RecordBatch) -> Result<(), String>) -> Result<(), Error> {
        self.run(async {
            let session = self.session()?;
            let mut operations = execute_stream(self.sorted(&session).await?, session.task_ctx())?;
            while let Some(batch) = operations.next().await {
                sink(batch?).map_err(Error::Engine)?;
            }
            Ok(())
        })
    }

    /// The operations of one key, by start.
    pub fn operations_of(&self, key: &str) -> Result<Vec<RecordBatch>, Error> {
        self.run(async {
            let session = self.session()?;
            let operations = self.operations(&session).await?;
            let condition = cast(ident(&self.by), DataType::Utf8).eq(datafusion::prelude::lit(key));
            let sorted = operations.filter(condition)?.sort(vec![col("start").sort(true, true)])?;
            Ok(sorted.collect().await?)
        })
    }

    fn run<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(self.jobs.max(1)).enable_all().build();
        runtime.map_err(|error| Error::Engine(error.to_string()))?.block_on(work)
    }

    fn session(&self) -> Result<SessionContext, Error> {
        let mut runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(FairSpillPool::new(self.memory)));
        if let Some(scratch) = &self.scratch {
            runtime = runtime.with_temp_file_path(scratch);
        }
        let config = SessionConfig::new().with_target_partitions(self.jobs.max(1));
        let session = SessionContext::new_with_config_rt(config, runtime.build_arc()?);
        for input in self.inputs.iter().chain(&self.after) {
            let Some((bucket, _)) = input.strip_prefix("s3://").map(|rest| rest.split_once('/').unwrap_or((rest, "")))
            else {
                continue;
            };
            // The address of the server, the region and the credentials come from the usual variables.
            let store = AmazonS3Builder::from_env().with_bucket_name(bucket).build();
            let store = store.map_err(|error| Error::Engine(error.to_string()))?;
            let url = ObjectStoreUrl::parse(format!("s3://{bucket}"))?;
            session.register_object_store(url.as_ref(), Arc::new(store));
        }
        Ok(session)
    }

    /// The operations, with the columns that a check reads.
    async fn operations(&self, session: &SessionContext) -> Result<DataFrame, Error> {
        let mut operations = read(session, &self.inputs).await?;
        if let Some(filter) = &self.filter {
            let condition = operations.parse_sql_expr(filter)?;
            operations = operations.filter(condition)?;
        }
        let schema = operations.schema().as_arrow().clone();
        let key = schema.field_with_name(&self.by).map_err(|_| {
            let names: Vec<String> = schema.fields().iter().map(|field| format!("`{}`", field.name())).collect();
            Error::Engine(format!("there is no column `{}`; the columns are {}", self.by, names.join(", ")))
        })?;
        let to = omnilink_keyed::verdicts(key.data_type()).field(0).data_type().clone();
        let mut wanted = vec![cast(ident(&self.by), to).alias(&self.by)];
        let present = READ.iter().filter(|name| **name != self.by && schema.column_with_name(name).is_some());
        wanted.extend(present.map(|name| ident(*name)));
        Ok(operations.select(wanted)?)
    }

    /// The operations by key and start, with the carried states of an earlier check.
    async fn sorted(&self, session: &SessionContext) -> Result<Arc<dyn ExecutionPlan>, Error> {
        let mut operations = self.operations(session).await?;
        if !self.after.is_empty() {
            let earlier = read(session, &self.after).await?;
            let carried = vec![ident("key").alias(&self.by), ident("carried")];
            let earlier = earlier.filter(ident("carried").is_not_null())?.select(carried)?;
            operations = operations.union_by_name(earlier)?;
        }
        let plan = operations.create_physical_plan().await?;
        let key = datafusion::physical_expr::expressions::col(&self.by, &plan.schema())?;
        let partitioned = RepartitionExec::try_new(plan, Partitioning::Hash(vec![key], self.jobs.max(1)))?;
        let schema: SchemaRef = partitioned.schema();
        let sorted = SortExec::new(ordering(&schema, &self.by)?, Arc::new(partitioned));
        Ok(Arc::new(sorted.with_preserve_partitioning(true)))
    }
}

async fn read(session: &SessionContext, inputs: &[String]) -> Result<DataFrame, Error> {
    Ok(session.read_parquet(inputs.to_vec(), ParquetReadOptions::default()).await?)
}
