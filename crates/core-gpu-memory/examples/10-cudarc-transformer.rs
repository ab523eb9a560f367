//! A small transformer on cudarc, written against `CudaSlice` as such programs are, and run twice: with
//! cudarc's own memory and with the pool's. Both give the same numbers. Needs a CUDA device, or the
//! simulated library, and for a card NVRTC.
#![expect(unsafe_code, reason = "launching a kernel is unsafe in cudarc")]

use std::{error::Error, sync::Arc};

use core_gpu_driver::{CudaDriver, Driver, cuda};
use core_gpu_memory::{Pool, Source, interop::CudarcBuffer};
use cudarc::{
    driver::{
        CudaContext, CudaModule, CudaSlice, CudaStream, CudaViewMut, LaunchConfig, PushKernelArg,
    },
    nvrtc::{Ptx, compile_ptx},
};

/// Rows of a sequence, width of a token, and width between the two halves of a layer's last part.
const TOKENS: usize = 8;
const WIDTH: usize = 16;
const HIDDEN: usize = 32;
const LAYERS: usize = 3;

const KERNELS: &str = r#"
typedef unsigned long long u64;
extern "C" __global__ void sim_add_f32(float* to, const float* one, const float* other, u64 count) {
    u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (at < count) to[at] = one[at] + other[at];
}
extern "C" __global__ void sim_relu_f32(float* to, const float* from, u64 count) {
    u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (at < count) to[at] = from[at] > 0.0f ? from[at] : 0.0f;
}
extern "C" __global__ void sim_matmul_f32(
    float* to, const float* one, const float* other, u64 rows, u64 inner, u64 columns) {
    u64 at = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (at >= rows * columns) return;
    float sum = 0.0f;
    for (u64 k = 0; k < inner; k++)
        sum += one[at / columns * inner + k] * other[k * columns + at % columns];
    to[at] = sum;
}
extern "C" __global__ void sim_softmax_f32(float* to, const float* from, u64 rows, u64 columns) {
    u64 row = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = from + row * columns;
    float most = in[0], sum = 0.0f;
    for (u64 k = 1; k < columns; k++) most = in[k] > most ? in[k] : most;
    for (u64 k = 0; k < columns; k++) sum += expf(in[k] - most);
    for (u64 k = 0; k < columns; k++) to[row * columns + k] = expf(in[k] - most) / sum;
}
"#;

type Answer<R> = Result<R, Box<dyn Error>>;

/// Numbers on the device, whosever the memory is.
trait Tensor {
    fn slice(&self) -> &CudaSlice<f32>;
    fn view_mut(&mut self) -> CudaViewMut<'_, f32>;
}

/// Where tensors come from.
trait Memory {
    type Tensor: Tensor;
    fn tensor(&self, len: usize) -> Answer<Self::Tensor>;
}

impl Tensor for CudaSlice<f32> {
    fn slice(&self) -> &CudaSlice<f32> {
        self
    }

    fn view_mut(&mut self) -> CudaViewMut<'_, f32> {
        self.as_view_mut()
    }
}

impl Tensor for CudarcBuffer<f32> {
    fn slice(&self) -> &CudaSlice<f32> {
        self.as_slice()
    }

    fn view_mut(&mut self) -> CudaViewMut<'_, f32> {
        CudarcBuffer::view_mut(self)
    }
}

struct Theirs(Arc<CudaStream>);

impl Memory for Theirs {
    type Tensor = CudaSlice<f32>;

    fn tensor(&self, len: usize) -> Answer<CudaSlice<f32>> {
        // SAFETY: every tensor is written before it is read.
        Ok(unsafe { self.0.alloc(len) }?)
    }
}

struct Pooled(Pool, Arc<CudaStream>);

impl Memory for Pooled {
    type Tensor = CudarcBuffer<f32>;

    fn tensor(&self, len: usize) -> Answer<CudarcBuffer<f32>> {
        let by = Source::named("transformer");
        Ok(self.0.allocate_cudarc(len, &self.1, by)?)
    }
}

/// The operations, each into a tensor of its own, as eager programs do.
struct Operations<'o, M: Memory> {
    memory: &'o M,
    stream: &'o Arc<CudaStream>,
    module: &'o Arc<CudaModule>,
}

impl<M: Memory> Operations<'_, M> {
    fn upload(&self, values: &[f32]) -> Answer<M::Tensor> {
        let mut tensor = self.memory.tensor(values.len())?;
        self.stream.memcpy_htod(values, &mut tensor.view_mut())?;
        Ok(tensor)
    }

    fn launch(
        &self,
        name: &str,
        from: &[&M::Tensor],
        sizes: &[u64],
        len: usize,
    ) -> Answer<M::Tensor> {
        let mut to = self.memory.tensor(len)?;
        let mut out = to.view_mut();
        let function = self.module.load_function(name)?;
        let mut launch = self.stream.launch_builder(&function);
        launch.arg(&mut out);
        for tensor in from {
            launch.arg(tensor.slice());
        }
        for size in sizes {
            launch.arg(size);
        }
        // SAFETY: the arguments are those of the kernel, and within their tensors.
        unsafe { launch.launch(LaunchConfig::for_num_elems(len as u32)) }?;
        Ok(to)
    }

    fn add(&self, one: &M::Tensor, other: &M::Tensor) -> Answer<M::Tensor> {
        let len = one.slice().len();
        self.launch("sim_add_f32", &[one, other], &[len as u64], len)
    }

    fn relu(&self, from: &M::Tensor) -> Answer<M::Tensor> {
        let len = from.slice().len();
        self.launch("sim_relu_f32", &[from], &[len as u64], len)
    }

    fn matmul(&self, one: &M::Tensor, other: &M::Tensor, inner: usize) -> Answer<M::Tensor> {
        let (rows, columns) = (one.slice().len() / inner, other.slice().len() / inner);
        let sizes = [rows as u64, inner as u64, columns as u64];
        self.launch("sim_matmul_f32", &[one, other], &sizes, rows * columns)
    }

    fn softmax(&self, from: &M::Tensor, columns: usize) -> Answer<M::Tensor> {
        let len = from.slice().len();
        let sizes = [(len / columns) as u64, columns as u64];
        self.launch("sim_softmax_f32", &[from], &sizes, len)
    }

    /// One layer: tokens mix by how much they are alike, and then each for itself.
    fn layer(&self, tokens: M::Tensor, layer: usize) -> Answer<M::Tensor> {
        let weights = |part: usize, len: usize| self.upload(&numbers(layer * 8 + part, len));
        let queries = self.matmul(&tokens, &weights(0, WIDTH * WIDTH)?, WIDTH)?;
        // Keys come as columns: their weights are made so.
        let keys = self.matmul(&weights(1, WIDTH * TOKENS)?, &tokens, TOKENS)?;
        let values = self.matmul(&tokens, &weights(2, WIDTH * WIDTH)?, WIDTH)?;
        let mixing = self.matmul(&keys, &weights(3, WIDTH * TOKENS)?, WIDTH)?;
        let scores = self.matmul(&queries, &mixing, WIDTH)?;
        let mixed = self.matmul(&self.softmax(&scores, TOKENS)?, &values, TOKENS)?;
        let tokens = self.add(&tokens, &mixed)?;
        let hidden = self.matmul(&tokens, &weights(4, WIDTH * HIDDEN)?, WIDTH)?;
        let hidden = self.relu(&hidden)?;
        let out = self.matmul(&hidden, &weights(5, HIDDEN * WIDTH)?, HIDDEN)?;
        self.add(&tokens, &out)
    }

    fn run(&self) -> Answer<Vec<f32>> {
        let mut tokens = self.upload(&numbers(1_000, TOKENS * WIDTH))?;
        for layer in 0..LAYERS {
            tokens = self.layer(tokens, layer)?;
        }
        Ok(self.stream.clone_dtoh(tokens.slice())?)
    }
}

/// Small numbers that are the same each time.
fn numbers(seed: usize, len: usize) -> Vec<f32> {
    let number = |at: usize| ((seed * 31 + at * 17) % 101) as f32 / 505.0 - 0.1;
    (0..len).map(number).collect()
}

/// A card needs its own code; the simulated library has these kernels by name.
fn image() -> Answer<Ptx> {
    // SAFETY: it looks whether a library can be loaded.
    if unsafe { cudarc::nvrtc::sys::is_culib_present() } {
        return Ok(compile_ptx(KERNELS)?);
    }
    Ok(Ptx::from_src(KERNELS))
}

/// Runs it with both, and says what they give.
pub fn run() -> Answer<(Vec<f32>, Vec<f32>)> {
    let devices = cuda::devices()?;
    let device = devices.first().ok_or("there is no CUDA device")?;
    let driver: Arc<dyn Driver> = CudaDriver::open(&device.id)?;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let module = context.load_module(image()?)?;
    let (stream, module) = (&stream, &module);
    let theirs = Theirs(Arc::clone(stream));
    let memory = &theirs;
    let expected = Operations {
        memory,
        stream,
        module,
    }
    .run()?;
    let pooled = Pooled(Pool::new(&driver), Arc::clone(stream));
    let memory = &pooled;
    let found = Operations {
        memory,
        stream,
        module,
    }
    .run()?;
    let numbers = pooled.0.statistics();
    println!(
        "{} blocks from {} segments of {} bytes",
        numbers.hits + numbers.misses,
        numbers.segments_made,
        numbers.reserved_bytes
    );
    Ok((expected, found))
}

fn main() -> Answer<()> {
    let (expected, found) = run()?;
    println!("with cudarc's memory: {:?}", expected.first_chunk::<4>());
    println!("with the pool's:      {:?}", found.first_chunk::<4>());
    if expected == found {
        return Ok(());
    }
    Err("the numbers differ".into())
}
