//! Stores: one trait for device memory, host memory and disk; dictionaries of arrays as directories.

use std::{collections::BTreeMap, error::Error, sync::Arc};

use core_gpu_driver::{Driver, HostDriver};
use core_gpu_memory::{
    DType, MemoryManager, Source,
    store::{Blob, DeviceStore, HostStore, Key, Metadata, StoreRegistry, Value},
};

/// The example, on any device.
pub fn run(driver: &Arc<dyn Driver>) -> Result<(), Box<dyn Error>> {
    let manager = MemoryManager::builder(driver)
        .spill_bytes(1 << 20)
        .build()?;
    let stores = StoreRegistry::new();
    let device = DeviceStore::new(&manager, Source::named("model"));
    stores.register("device", Arc::new(device))?;
    stores.register("host", Arc::new(HostStore::new()))?;

    let weights = Blob {
        data: vec![1; 24],
        metadata: Metadata::array(&[2, 3], DType::Float32),
    };
    let layer = BTreeMap::from([("weights".to_owned(), Value::Array(weights))]);
    let model = Value::Dictionary(BTreeMap::from([(
        "layer".to_owned(),
        Value::Dictionary(layer),
    )]));
    for name in stores.names() {
        let store = stores.get(&name)?;
        model.save(store.as_ref(), &Key::new("models/one")?)?;
        store.rename(&Key::new("models/one")?, &Key::new("models/two")?)?;
        for (key, kind) in store.walk(&Key::root())? {
            println!("{name}: {key} is a {kind:?} of {} bytes", store.size(&key)?);
        }
        assert_eq!(
            Value::load(store.as_ref(), &Key::new("models/two")?)?,
            model
        );
    }
    println!(
        "{}",
        stores.get("devise").err().ok_or("a store of that name")?
    );
    Ok(())
}

#[cfg_attr(test, expect(dead_code, reason = "tests call `run`"))]
fn main() -> Result<(), Box<dyn Error>> {
    run(&HostDriver::open(64 << 20))
}
