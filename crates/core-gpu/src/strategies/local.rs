//! The strategies without collectives: on the processor, and processes on one device or several.

use core_gpu_driver::PlatformKind;

use crate::platform::DeviceName;

use super::{
    GpuStrategy, WorkerDevice,
    config::{Candidate, StrategyContext},
    error::StrategyError,
};

/// The name of [`CpuOnly`].
pub const CPU: &str = "cpu";
/// The name of [`SingleGpuMultiProcess`].
pub const SINGLE_GPU: &str = "single_gpu";
/// The name of [`MultiGpuMultiProcess`].
pub const MULTI_GPU: &str = "multi_gpu";

/// Every worker on the processor; their devices are hidden from them.
#[derive(Debug)]
pub struct CpuOnly {
    workers: usize,
}

impl CpuOnly {
    /// As many workers as the configuration says, or as the processor has threads.
    #[must_use]
    pub fn new(context: &StrategyContext) -> Self {
        let threads = || std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            workers: context.config.cpu_workers.unwrap_or_else(threads),
        }
    }
}

impl GpuStrategy for CpuOnly {
    fn initialize(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }

    fn backend(&self) -> &str {
        CPU
    }

    fn num_workers(&self) -> usize {
        self.workers
    }

    fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError> {
        in_range(worker, self.workers)?;
        let cpu = DeviceName::numbered(PlatformKind::Host, 0);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Ok(WorkerDevice {
            device: cpu.clone(),
            in_worker: cpu,
            id: None,
            variables: vec![
                pair("GPU_BACKEND", "cpu"),
                pair("CUDA_VISIBLE_DEVICES", ""),
                pair("HIP_VISIBLE_DEVICES", ""),
            ],
        })
    }

    fn cleanup(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }
}

/// Several processes that share one device, without collectives: NCCL refuses two ranks on one. Each
/// worker sees the device as its only one, by the number 0.
#[derive(Debug)]
pub struct SingleGpuMultiProcess {
    device: Candidate,
    workers: usize,
}

impl SingleGpuMultiProcess {
    /// On the device with the most free memory of those that count; the first of several.
    ///
    /// # Errors
    /// [`StrategyError::TooFewDevices`] when none counts.
    pub fn new(context: &StrategyContext) -> Result<Self, StrategyError> {
        let free =
            |candidate: &&Candidate| candidate.free_bytes.unwrap_or(candidate.info.total_bytes);
        let device = context.devices.iter().rev().max_by_key(free);
        Ok(Self {
            device: device
                .ok_or_else(|| context.too_few(SINGLE_GPU, 1))?
                .clone(),
            workers: context.config.workers_per_gpu,
        })
    }
}

impl GpuStrategy for SingleGpuMultiProcess {
    fn initialize(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }

    fn backend(&self) -> &str {
        SINGLE_GPU
    }

    fn num_workers(&self) -> usize {
        self.workers
    }

    fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError> {
        in_range(worker, self.workers)?;
        Ok(WorkerDevice::alone(&self.device, |name| {
            std::env::var(name).ok()
        }))
    }

    fn cleanup(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }
}

/// Processes on several devices, without collectives: each has one device for itself or with as many
/// others as the configuration says, and knows nothing of the rest. The usual way to serve models.
#[derive(Debug)]
pub struct MultiGpuMultiProcess {
    devices: Vec<Candidate>,
    workers_per_gpu: usize,
}

impl MultiGpuMultiProcess {
    /// On all devices that count.
    ///
    /// # Errors
    /// [`StrategyError::TooFewDevices`] when none counts.
    pub fn new(context: &StrategyContext) -> Result<Self, StrategyError> {
        if context.devices.is_empty() {
            return Err(context.too_few(MULTI_GPU, 1));
        }
        Ok(Self {
            devices: context.devices.clone(),
            workers_per_gpu: context.config.workers_per_gpu,
        })
    }
}

impl GpuStrategy for MultiGpuMultiProcess {
    fn initialize(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }

    fn backend(&self) -> &str {
        MULTI_GPU
    }

    fn num_workers(&self) -> usize {
        self.devices.len().saturating_mul(self.workers_per_gpu)
    }

    /// Round the devices: the first workers have one device each, so that a program that starts
    /// fewer than there are spreads them.
    fn device_for_worker(&self, worker: usize) -> Result<WorkerDevice, StrategyError> {
        let workers = self.num_workers();
        in_range(worker, workers)?;
        let device = self.devices.get(worker % self.devices.len());
        let device = device.ok_or(StrategyError::NoSuchWorker { worker, workers })?;
        Ok(WorkerDevice::alone(device, |name| std::env::var(name).ok()))
    }

    fn cleanup(&mut self) -> Result<(), StrategyError> {
        Ok(())
    }
}

pub fn in_range(worker: usize, workers: usize) -> Result<(), StrategyError> {
    if worker < workers {
        return Ok(());
    }
    Err(StrategyError::NoSuchWorker { worker, workers })
}
