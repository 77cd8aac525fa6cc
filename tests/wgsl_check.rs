//! tmp
#[test]
fn check() {
    let mut src = String::new();
    let mut lines = vec![];
    for f in std::fs::read_to_string("shaders/order.txt").unwrap().lines() {
        let t = std::fs::read_to_string(format!("shaders/{f}")).unwrap();
        for (i, _) in t.lines().enumerate() { lines.push(format!("{f}:{}", i + 1)); }
        src += &t;
    }
    match naga::front::wgsl::parse_str(&src) {
        Err(e) => { let l = e.location(&src).unwrap(); panic!("{} {}", lines[l.line_number as usize - 1], e.emit_to_string(&src)); }
        Ok(m) => {
            let mut v = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
            let info = match v.validate(&m) { Err(e) => panic!("{}", e.emit_to_string(&src)), Ok(i) => i };
            for (i, e) in m.entry_points.iter().enumerate() {
                let fi = info.get_entry_point(i);
                let used: Vec<_> = m.global_variables.iter().filter(|(h, _)| !fi[*h].is_empty()).map(|(_, g)| g.name.clone().unwrap()).collect();
                println!("{} {:?}", e.name, used);
            }
        }
    }
}
