//! Adapters of wgpu: the kernels as compute pipelines.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::AdapterInfo;
use crate::engine::device::{Device, SYNC, Upkeep, turn};
use crate::error::Error;
use crate::kernels;
use crate::state::buffers::Buffers;
use crate::state::layout::Layout;

/// Bound of the work of an invocation; a node that has more goes on in the next dispatch.
const BUDGET: u32 = 12_000;
/// The same on Mesa's software adapter, which ends all loops after 65,535 iterations, counted over the eight lanes of a vector together,
/// without a word. A unit of work is at most five iterations.
const SOFTWARE_BUDGET: u32 = 1_000;
const SLICE: Duration = Duration::from_millis(100);
const MOST_WINDOWS: u32 = 4096;
const WORKGROUP: u32 = 64;
const MOST_WORKGROUPS: u32 = 65_535;

/// Work between windows, of which the kernels are bound beside those of a window.
const UPKEEP: [Upkeep; 2] = [Upkeep::Rebase, Upkeep::Settle];

/// The kernels of a window, in order, with the number of invocations of each.
fn window(layout: &Layout) -> Vec<(&'static str, u32)> {
    let n_switches = layout.n_nodes - layout.n_endpoints;
    let technologies = [("step_switches", layout.ethernet), ("step_lanes", layout.infiniband)];
    let switches = technologies.into_iter().filter(|(_, used)| *used).map(|(name, _)| (name, n_switches));
    std::iter::once(("step_endpoints", layout.n_endpoints)).chain(switches).chain([("advance_clock", layout.n_nodes)]).collect()
}

/// An open adapter with its pipelines; opened once a process, as compiling takes seconds.
struct Gpu {
    info: AdapterInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    module: wgpu::ShaderModule,
    /// Compiled when a batch first needs them.
    pipelines: Vec<OnceLock<wgpu::ComputePipeline>>,
    limits: wgpu::Limits,
}

static OPEN: Mutex<Vec<Arc<Gpu>>> = Mutex::new(Vec::new());

fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle())
}

fn describe(adapter: &wgpu::Adapter) -> AdapterInfo {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let kind = match info.device_type {
        wgpu::DeviceType::Cpu => "vulkan-cpu",
        _ => "gpu",
    };
    AdapterInfo {
        name: info.name,
        kind: kind.into(),
        backend: info.backend.to_str().into(),
        driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
        max_binding_bytes: limits.max_storage_buffer_binding_size,
        max_buffer_bytes: limits.max_buffer_size,
    }
}

fn found() -> Vec<(wgpu::Adapter, AdapterInfo)> {
    let adapters = pollster::block_on(instance().enumerate_adapters(wgpu::Backends::PRIMARY));
    adapters.into_iter().map(|a| (describe(&a), a)).map(|(i, a)| (a, i)).collect()
}

/// All adapters of wgpu that this machine has.
pub(crate) fn adapters() -> Vec<AdapterInfo> {
    found().into_iter().map(|(_, info)| info).collect()
}

/// Opens the first adapter that `wanted` accepts; `None` if there is none.
pub(crate) fn open(wanted: &dyn Fn(&AdapterInfo) -> bool) -> Result<Option<GpuDevice>, Error> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(gpu) = open.iter().find(|g| wanted(&g.info)) {
        return Ok(Some(GpuDevice::new(gpu.clone())));
    }
    let Some((adapter, info)) = found().into_iter().find(|(_, info)| wanted(info)) else { return Ok(None) };
    let gpu = Arc::new(Gpu::new(&adapter, info)?);
    open.push(gpu.clone());
    Ok(Some(GpuDevice::new(gpu)))
}

impl Gpu {
    fn new(adapter: &wgpu::Adapter, info: AdapterInfo) -> Result<Self, Error> {
        let has = adapter.limits();
        let n_buffers = u32::try_from(Buffers::NAMES.len()).unwrap_or(u32::MAX);
        if has.max_storage_buffers_per_shader_stage < n_buffers {
            return Err(Error::Adapter(format!(
                "`{}` binds {} storage buffers to a kernel; {n_buffers} are needed",
                info.name, has.max_storage_buffers_per_shader_stage
            )));
        }
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: has.max_storage_buffer_binding_size,
            max_buffer_size: has.max_buffer_size,
            max_storage_buffers_per_shader_stage: n_buffers,
            ..wgpu::Limits::default()
        };
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("fabricsim"),
            required_limits: limits.clone(),
            ..wgpu::DeviceDescriptor::default()
        });
        let (device, queue) = pollster::block_on(request).map_err(|e| Error::Adapter(format!("cannot open `{}`: {e}", info.name)))?;
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("model"),
            source: wgpu::ShaderSource::Wgsl(kernels::WGSL.into()),
        });
        let pipelines = kernels::KERNELS.iter().map(|_| OnceLock::new()).collect();
        if let Some(e) = pollster::block_on(scope.pop()) {
            return Err(Error::Adapter(format!("`{}` does not take the shaders: {e}", info.name)));
        }
        Ok(Self { info, device, queue, module, pipelines, limits })
    }

    fn pipeline(&self, kernel: usize) -> &wgpu::ComputePipeline {
        self.pipelines[kernel].get_or_init(|| {
            let name = kernels::KERNELS[kernel].0;
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: None,
                module: &self.module,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        })
    }
}

fn kernel(name: &str) -> Result<usize, Error> {
    kernels::KERNELS.iter().position(|(n, _)| *n == name).ok_or_else(|| Error::Internal(format!("no kernel `{name}`")))
}

/// A batch on an adapter.
struct Loaded {
    buffers: Vec<wgpu::Buffer>,
    /// Words in use of each buffer.
    n_words: Vec<usize>,
    /// `groups[parity][kernel]`.
    groups: Vec<Vec<Option<wgpu::BindGroup>>>,
    layout: Layout,
}

/// See the module.
pub(crate) struct GpuDevice {
    gpu: Arc<Gpu>,
    loaded: Option<Loaded>,
    n_windows: u32,
}

impl GpuDevice {
    fn new(gpu: Arc<Gpu>) -> Self {
        Self { gpu, loaded: None, n_windows: 2 }
    }

    fn loaded(&self) -> Result<&Loaded, Error> {
        self.loaded.as_ref().ok_or_else(|| Error::Internal("the device holds no state".into()))
    }

    fn check_size(&self, name: &str, bytes: u64) -> Result<(), Error> {
        let limits = &self.gpu.limits;
        let most = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
        if bytes <= most {
            return Ok(());
        }
        Err(Error::Capacity(format!(
            "buffer `{name}` needs {bytes} bytes and `{}` binds at most {most}; use the built-in adapter (--adapter builtin) or a smaller fabric",
            self.gpu.info.name
        )))
    }

    fn upload(&self, buffers: &Buffers) -> Result<Vec<wgpu::Buffer>, Error> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let scope = self.gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let mut made = Vec::new();
        for (name, words) in Buffers::NAMES.into_iter().zip(buffers.all()) {
            // Large enough for one record of any type, so that an empty buffer can be bound.
            let size = (4 * words.len() as u64).max(1024);
            self.check_size(name, size)?;
            let buffer =
                self.gpu.device.create_buffer(&wgpu::BufferDescriptor { label: Some(name), size, usage, mapped_at_creation: false });
            self.gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
            made.push(buffer);
        }
        match pollster::block_on(scope.pop()) {
            Some(e) => Err(Error::Capacity(format!("`{}` has no memory for the state: {e}", self.gpu.info.name))),
            None => Ok(made),
        }
    }

    /// Bind groups of all kernels at a parity.
    fn bind(&self, buffers: &[wgpu::Buffer], layout: &Layout, parity: u32) -> Vec<Option<wgpu::BindGroup>> {
        let gpu = &self.gpu;
        let budget = if gpu.info.kind == "gpu" { BUDGET } else { SOFTWARE_BUDGET };
        let uniform = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("turn"),
            size: size_of::<kernels::Turn>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&turn(layout, parity, budget)));
        let used: Vec<&str> =
            window(layout).into_iter().chain(UPKEEP.iter().flat_map(|u| u.kernels(layout))).map(|(name, _)| name).collect();
        let group = |(i, (name, bindings)): (usize, &(&str, &[u32]))| {
            if !used.contains(name) {
                return None;
            }
            let entries: Vec<_> = bindings
                .iter()
                .map(|b| wgpu::BindGroupEntry { binding: *b, resource: buffers.get(*b as usize).unwrap_or(&uniform).as_entire_binding() })
                .collect();
            Some(gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(name),
                layout: &gpu.pipeline(i).get_bind_group_layout(0),
                entries: &entries,
            }))
        };
        kernels::KERNELS.iter().enumerate().map(group).collect()
    }

    fn run(&self, work: impl Iterator<Item = (usize, usize, u32)>) -> Result<(), Error> {
        let loaded = self.loaded()?;
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for (kernel, parity, invocations) in work {
                let groups = invocations.div_ceil(WORKGROUP);
                if groups > MOST_WORKGROUPS {
                    return Err(Error::Capacity(format!("{invocations} invocations are more than an adapter takes in one dispatch")));
                }
                if groups > 0 {
                    pass.set_pipeline(self.gpu.pipeline(kernel));
                    pass.set_bind_group(0, loaded.groups[parity][kernel].as_ref(), &[]);
                    pass.dispatch_workgroups(groups, 1, 1);
                }
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Copies words off the adapter and waits for them, and so for all work before.
    fn fetch(&self, buffer: &wgpu::Buffer, first: usize, words: &mut [u32]) -> Result<(), Error> {
        if words.is_empty() {
            return Ok(());
        }
        let size = 4 * words.len() as u64;
        let staging = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("staging"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 4 * first as u64, &staging, 0, size);
        self.gpu.queue.submit([encoder.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        staging.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is alive: it waits below.
            drop(sender.send(result));
        });
        let lost = |e: String| Error::Adapter(format!("`{}` stopped working: {e}", self.gpu.info.name));
        self.gpu.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|e| lost(e.to_string()))?;
        receiver.recv().map_err(|e| lost(e.to_string()))?.map_err(|e| lost(e.to_string()))?;
        let view = staging.slice(..).get_mapped_range().map_err(|e| lost(e.to_string()))?;
        words.copy_from_slice(bytemuck::cast_slice(&view));
        Ok(())
    }
}

impl Device for GpuDevice {
    fn info(&self) -> AdapterInfo {
        self.gpu.info.clone()
    }

    fn put(&mut self, buffers: Buffers, layout: &Layout) -> Result<(), Error> {
        self.loaded = None;
        let held = self.upload(&buffers)?;
        let groups = (0..2).map(|parity| self.bind(&held, layout, parity)).collect();
        let n_words = buffers.all().iter().map(|b| b.len()).collect();
        self.loaded = Some(Loaded { buffers: held, n_words, groups, layout: layout.clone() });
        Ok(())
    }

    fn take(&mut self) -> Result<Buffers, Error> {
        let mut buffers = Buffers::default();
        let loaded = self.loaded()?;
        for ((words, buffer), n) in buffers.all_mut().into_iter().zip(&loaded.buffers).zip(&loaded.n_words) {
            *words = vec![0; *n];
            self.fetch(buffer, 0, words)?;
        }
        self.loaded = None;
        Ok(buffers)
    }

    fn windows(&mut self) -> Result<u64, Error> {
        let started = Instant::now();
        let layout = &self.loaded()?.layout;
        let mut steps = Vec::new();
        for (name, count) in window(layout) {
            steps.push((kernel(name)?, count));
        }
        let n = self.n_windows;
        self.run((0..n).flat_map(|w| steps.iter().map(move |(kernel, count)| (*kernel, (w % 2) as usize, *count))))?;
        let mut word = [0];
        self.read(SYNC, 0, &mut word)?;
        let spent = started.elapsed();
        if spent < SLICE / 2 {
            self.n_windows = (2 * n).min(MOST_WINDOWS);
        } else if spent > 2 * SLICE {
            self.n_windows = (n / 4 * 2).max(2);
        }
        Ok(u64::from(n))
    }

    fn upkeep(&mut self, upkeep: Upkeep) -> Result<(), Error> {
        let mut work = Vec::new();
        for (name, n) in upkeep.kernels(&self.loaded()?.layout) {
            work.push((kernel(name)?, 0, n));
        }
        self.run(work.into_iter())
    }

    fn read(&mut self, which: usize, first: usize, words: &mut [u32]) -> Result<(), Error> {
        self.fetch(&self.loaded()?.buffers[which], first, words)
    }

    fn write(&mut self, which: usize, first: usize, words: &[u32]) -> Result<(), Error> {
        self.gpu.queue.write_buffer(&self.loaded()?.buffers[which], 4 * first as u64, bytemuck::cast_slice(words));
        Ok(())
    }
}
