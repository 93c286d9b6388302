//! The operator: partitioned and sorted operations in, a verdict for each key out.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::col;
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
    ReplaceChildrenOptions, SendableRecordBatchStream,
};
use futures::StreamExt;
use omnilink_history::Stop;
use omnilink_judge::{Judge, Limits};
use omnilink_keyed::{Error, KeyedOptions, Summary, check_sorted, verdicts};
use tokio::runtime::Handle;

/// The check of every key, as a step of a plan.
pub struct CheckExec {
    input: Arc<dyn ExecutionPlan>,
    work: Arc<Work>,
    properties: Arc<PlanProperties>,
}

/// The data that all partitions share.
pub(crate) struct Work {
    pub(crate) judge: Arc<Judge>,
    pub(crate) options: KeyedOptions,
    pub(crate) limits: Arc<dyn Limits + Send + Sync>,
    pub(crate) summary: Mutex<Summary>,
    /// The limit that was reached, if one was.
    pub(crate) stop: Mutex<Option<Stop>>,
}

impl CheckExec {
    /// Checks the output of this plan.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, work: Arc<Work>) -> Result<CheckExec> {
        let schema = verdicts(input.schema().field_with_name(&work.options.by)?.data_type());
        let partitions = Partitioning::UnknownPartitioning(input.output_partitioning().partition_count());
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            partitions,
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(CheckExec { input, work, properties: Arc::new(properties) })
    }
}

/// Key, start, end: rows without a start are carried and come first, and operations without an end come last.
pub(crate) fn ordering(schema: &SchemaRef, by: &str) -> Result<LexOrdering> {
    let mut order = Vec::new();
    for (name, nulls_first) in [(by, true), ("start", true), ("end", false)] {
        if schema.column_with_name(name).is_some() {
            let options = SortOptions { descending: false, nulls_first };
            order.push(PhysicalSortExpr { expr: col(name, schema)?, options });
        }
    }
    LexOrdering::new(order).ok_or_else(|| DataFusionError::Plan("there is nothing to sort by".into()))
}

impl fmt::Debug for CheckExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckExec").field("options", &self.work.options).finish_non_exhaustive()
    }
}

impl DisplayAs for CheckExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckExec: by={}", self.work.options.by)
    }
}

impl ExecutionPlan for CheckExec {
    fn name(&self) -> &'static str {
        "CheckExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let key = col(&self.work.options.by, &self.input.schema()).expect("the column was there when it was made");
        InputDistributionRequirements::new(vec![Distribution::KeyPartitioned(vec![key])])
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![ordering(&self.input.schema(), &self.work.options.by).ok().map(OrderingRequirements::from)]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop().ok_or_else(|| DataFusionError::Plan("a check needs operations".into()))?;
        Ok(Arc::new(CheckExec::new(input, self.work.clone())?))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(datafusion::physical_plan::ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    /// A thread of its own pulls the batches of a partition: a search may take long, and must not block others.
    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context)?;
        let work = self.work.clone();
        let mut output = RecordBatchReceiverStream::builder(self.schema(), 2);
        let (sender, handle) = (output.tx(), Handle::current());
        output.spawn_blocking(move || {
            let mut batches = std::iter::from_fn(|| {
                let batch = handle.block_on(input.next())?;
                Some(batch.map_err(|error| error.to_string()))
            });
            let mut emit =
                |batch| sender.blocking_send(Ok(batch)).map_err(|_| "the verdicts are not read any more".to_owned());
            let checked = check_sorted(&work.judge, &mut batches, &work.options, &*work.limits, &mut emit);
            let (summary, ended) = match checked {
                Ok(summary) => (summary, Ok(())),
                Err(Error::Stopped(stop, summary)) => {
                    *work.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(stop);
                    (summary, Err(DataFusionError::Execution(stop.to_string())))
                }
                Err(error) => return Err(DataFusionError::Execution(error.to_string())),
            };
            work.summary.lock().unwrap_or_else(PoisonError::into_inner).add(&summary);
            ended
        });
        Ok(output.build())
    }
}
