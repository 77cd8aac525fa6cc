//! Which device a choice of adapter means.

use crate::engine::device::Device;
use crate::engine::gpu;
use crate::engine::native::Native;
use crate::engine::{AdapterChoice, AdapterInfo, Options};
use crate::error::Error;

/// Opens the device that the options ask for.
pub(crate) fn device(options: &Options) -> Result<Box<dyn Device>, Error> {
    let native = || -> Box<dyn Device> { Box::new(Native::new(options.threads)) };
    let none = |what: &str| {
        let known: Vec<String> = super::adapters().into_iter().map(|a| format!("`{}`", a.name)).collect();
        Error::Adapter(format!("{what}; this machine has {}", known.join(", ")))
    };
    let open = |wanted: &dyn Fn(&AdapterInfo) -> bool| gpu::open(wanted);
    match &options.adapter {
        AdapterChoice::BuiltIn => Ok(native()),
        AdapterChoice::Auto => match open(&|a| a.kind == "gpu") {
            Ok(Some(gpu)) => Ok(Box::new(gpu)),
            Ok(None) => Ok(native()),
            Err(e) => {
                log::warn!("{e}; using the built-in adapter");
                Ok(native())
            }
        },
        AdapterChoice::Gpu => Ok(Box::new(open(&|a| a.kind == "gpu")?.ok_or_else(|| none("no GPU was found"))?)),
        AdapterChoice::VulkanCpu => {
            let found = open(&|a| a.kind == "vulkan-cpu")?;
            Ok(Box::new(found.ok_or_else(|| none("no software Vulkan adapter was found (Debian and Ubuntu: mesa-vulkan-drivers)"))?))
        }
        AdapterChoice::Named(name) => {
            let wanted = name.to_lowercase();
            if "built-in".contains(&wanted) {
                return Ok(native());
            }
            let found = open(&|a| a.name.to_lowercase().contains(&wanted))?;
            Ok(Box::new(found.ok_or_else(|| none(&format!("no adapter is named like `{name}`")))?))
        }
    }
}
