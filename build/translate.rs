//! naga IR into plain Rust: one invocation of a kernel becomes one function call.
//!
//! Covers what the shaders use: `u32` and `bool`, vectors, structs, storage buffers, relaxed atomics, `ptr<function>` parameters.
//! Anything else is an error, so that a shader can never mean one thing here and another on a GPU.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    Arena, ArraySize, AtomicFunction, BinaryOperator, Block, Expression, Function, Handle, Literal, MathFunction, Module,
    RelationalFunction, Scalar, ScalarKind, Statement, StructMember, Type, TypeInner, UnaryOperator,
};

/// Functions that are called from `crate::wide` instead of being used as translated: 64-bit arithmetic that hardware has. Their
/// translations stay, and a test compares both.
const WIDE: [&str; 8] = ["add64", "add64u", "sub64", "lt64", "mul64", "byte_time_of", "ratio_q16", "duration"];

type Result<T> = std::result::Result<T, String>;

/// The whole module as the text of a Rust file.
pub fn module(module: &Module, info: &ModuleInfo) -> Result<String> {
    let mut t = Translator { module, out: String::new() };
    t.structs()?;
    t.context()?;
    for (_, c) in module.constants.iter() {
        let (Some(name), ty) = (&c.name, t.type_name(c.ty)?) else { continue };
        let value = t.constant(&module.global_expressions, c.init)?;
        t.line(&format!("pub const {name}: {ty} = {value};"));
    }
    for (h, f) in module.functions.iter() {
        let name = f.name.clone().ok_or("a function has no name")?;
        t.function(&name, f, &info[h])?;
    }
    for (i, e) in module.entry_points.iter().enumerate() {
        t.function(&format!("{}_one", e.name), &e.function, info.get_entry_point(i))?;
    }
    t.bindings(info)?;
    for e in &module.entry_points {
        // A loop of its own for every kernel, so that the kernel can be inlined in it.
        t.line(&format!(
            "/// # Safety\n/// As for [`Cx`].\npub unsafe fn {0}(cx: &Cx, from: u32, to: u32) {{ for i in from..to {{ unsafe {{ {0}_one(cx, [i, 0, 0]) }} }} }}",
            e.name
        ));
    }
    Ok(t.out)
}

struct Translator<'a> {
    module: &'a Module,
    out: String,
}

/// What is known while a function is translated.
struct Scope<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    loops: Vec<u32>,
    n_loops: u32,
}

fn scalar(s: Scalar) -> Result<&'static str> {
    match (s.kind, s.width) {
        (ScalarKind::Uint, 4) => Ok("u32"),
        (ScalarKind::Bool, _) => Ok("bool"),
        _ => Err(format!("scalar {s:?} is not supported")),
    }
}

fn literal(l: &Literal) -> Result<String> {
    match l {
        Literal::U32(v) => Ok(format!("{v}u32")),
        Literal::Bool(v) => Ok(v.to_string()),
        _ => Err(format!("literal {l:?} is not supported")),
    }
}

fn member_name(m: &StructMember) -> Result<&str> {
    m.name.as_deref().ok_or_else(|| "a struct member has no name".into())
}

fn continues(block: &Block) -> bool {
    block.iter().any(|s| match s {
        Statement::Continue => true,
        Statement::Block(b) => continues(b),
        Statement::If { accept, reject, .. } => continues(accept) || continues(reject),
        _ => false,
    })
}

impl<'a> Translator<'a> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn inner(&self, ty: Handle<Type>) -> &'a TypeInner {
        &self.module.types[ty].inner
    }

    fn type_name(&self, ty: Handle<Type>) -> Result<String> {
        match self.inner(ty) {
            TypeInner::Scalar(s) | TypeInner::Atomic(s) => Ok(scalar(*s)?.into()),
            TypeInner::Vector { size, scalar: s } => Ok(format!("[{}; {}]", scalar(*s)?, *size as u32)),
            TypeInner::Array { base, size: ArraySize::Constant(n), .. } => Ok(format!("[{}; {n}]", self.type_name(*base)?)),
            TypeInner::Array { base, size: ArraySize::Dynamic, .. } => Ok(format!("Slots<{}>", self.type_name(*base)?)),
            TypeInner::Struct { .. } => self.module.types[ty].name.clone().ok_or_else(|| "a struct has no name".into()),
            TypeInner::Pointer { base, .. } => Ok(format!("&mut {}", self.type_name(*base)?)),
            other => Err(format!("type {other:?} is not supported")),
        }
    }

    /// Structs with the layout of WGSL: a vector is an array of `u32`, and padding is written out.
    fn structs(&mut self) -> Result<()> {
        for (handle, ty) in self.module.types.iter() {
            let TypeInner::Struct { members, span } = &ty.inner else { continue };
            let name = self.type_name(handle)?;
            let (mut fields, mut checks, mut at, mut pads) = (String::new(), String::new(), 0, 0);
            let mut pad = |fields: &mut String, words: u32| {
                if words > 0 {
                    *fields += &format!("pub _pad{pads}: [u32; {words}], ");
                    pads += 1;
                }
            };
            for m in members {
                pad(&mut fields, (m.offset - at) / 4);
                let field = member_name(m)?;
                fields += &format!("pub {field}: {}, ", self.type_name(m.ty)?);
                checks += &format!("const _: () = assert!(std::mem::offset_of!({name}, {field}) == {});\n", m.offset);
                at = m.offset + self.inner(m.ty).size(self.module.to_ctx());
            }
            pad(&mut fields, (span - at) / 4);
            self.line(&format!(
                "#[repr(C)] #[derive(Clone, Copy, Default, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)] pub struct {name} {{ {fields}}}"
            ));
            self.line(&format!("{checks}const _: () = assert!(size_of::<{name}>() == {span});"));
        }
        Ok(())
    }

    /// The bindings as one struct.
    fn context(&mut self) -> Result<()> {
        let mut fields = String::new();
        for (_, v) in self.module.global_variables.iter() {
            let name = v.name.as_deref().ok_or("a binding has no name")?;
            fields += &format!("pub {name}: {}, ", self.type_name(v.ty)?);
        }
        self.line(&format!("#[derive(Debug)] pub struct Cx {{ {fields}}}"));
        Ok(())
    }

    /// Name of every kernel and the bindings it uses.
    fn bindings(&mut self, info: &ModuleInfo) -> Result<()> {
        let mut list = String::new();
        for (i, e) in self.module.entry_points.iter().enumerate() {
            let used = info.get_entry_point(i);
            let bindings = self.module.global_variables.iter().filter(|(h, _)| !used[*h].is_empty());
            let mut numbers = Vec::new();
            for (_, v) in bindings {
                numbers.push(v.binding.as_ref().ok_or("a global is not a binding")?.binding.to_string());
            }
            list += &format!("({:?}, &[{}]), ", e.name, numbers.join(", "));
        }
        self.line(&format!("pub const KERNELS: [(&str, &[u32]); {}] = [{list}];", self.module.entry_points.len()));
        Ok(())
    }

    fn zero(&self, ty: Handle<Type>) -> Result<String> {
        match self.inner(ty) {
            TypeInner::Scalar(Scalar { kind: ScalarKind::Bool, .. }) => Ok("false".into()),
            TypeInner::Scalar(s) => Ok(format!("0{}", scalar(*s)?)),
            TypeInner::Vector { size, scalar: s } => Ok(format!("[0{}; {}]", scalar(*s)?, *size as u32)),
            TypeInner::Array { base, size: ArraySize::Constant(n), .. } => Ok(format!("[{}; {n}]", self.zero(*base)?)),
            TypeInner::Struct { .. } => Ok(format!("{}::default()", self.type_name(ty)?)),
            other => Err(format!("zero of {other:?} is not supported")),
        }
    }

    fn compose(&self, ty: Handle<Type>, parts: &[String]) -> Result<String> {
        let TypeInner::Struct { members, .. } = self.inner(ty) else { return Ok(format!("[{}]", parts.join(", "))) };
        let name = self.type_name(ty)?;
        let mut fields = String::new();
        for (m, value) in members.iter().zip(parts) {
            fields += &format!("{}: {value}, ", member_name(m)?);
        }
        Ok(format!("{name} {{ {fields}..Default::default() }}"))
    }

    fn constant(&self, arena: &Arena<Expression>, e: Handle<Expression>) -> Result<String> {
        match &arena[e] {
            Expression::Literal(l) => literal(l),
            Expression::ZeroValue(ty) => self.zero(*ty),
            Expression::Constant(c) => self.constant(&self.module.global_expressions, self.module.constants[*c].init),
            Expression::Compose { ty, components } => {
                let parts = components.iter().map(|c| self.constant(arena, *c)).collect::<Result<Vec<_>>>()?;
                self.compose(*ty, &parts)
            }
            other => Err(format!("constant {other:?} is not supported")),
        }
    }

    fn type_of(&self, s: &Scope<'a>, e: Handle<Expression>) -> &'a TypeInner {
        s.info[e].ty.inner_with(&self.module.types)
    }

    fn is_place(&self, s: &Scope<'a>, e: Handle<Expression>) -> bool {
        matches!(self.type_of(s, e), TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. })
    }

    fn is_slots(&self, s: &Scope<'a>, e: Handle<Expression>) -> bool {
        matches!(self.type_of(s, e), TypeInner::Pointer { base, .. }
            if matches!(self.inner(*base), TypeInner::Array { size: ArraySize::Dynamic, .. }))
    }

    fn is_atomic(&self, s: &Scope<'a>, e: Handle<Expression>) -> bool {
        matches!(self.type_of(s, e), TypeInner::Pointer { base, .. } if matches!(self.inner(*base), TypeInner::Atomic(_)))
    }

    /// An expression where it is used: a place for pointers, a name or literal for values.
    fn operand(&self, s: &Scope<'a>, e: Handle<Expression>) -> Result<String> {
        match &s.function.expressions[e] {
            Expression::FunctionArgument(i) if self.is_place(s, e) => Ok(format!("(*a{i})")),
            Expression::FunctionArgument(i) => Ok(format!("a{i}")),
            Expression::LocalVariable(l) => Ok(format!("v{}", l.index())),
            Expression::GlobalVariable(g) => {
                Ok(format!("cx.{}", self.module.global_variables[*g].name.as_deref().ok_or("a binding has no name")?))
            }
            Expression::Access { .. } | Expression::AccessIndex { .. } if self.is_place(s, e) => self.access(s, e),
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => self.constant(&s.function.expressions, e),
            _ => Ok(format!("e{}", e.index())),
        }
    }

    fn access(&self, s: &Scope<'a>, e: Handle<Expression>) -> Result<String> {
        let (base, index, constant) = match &s.function.expressions[e] {
            Expression::Access { base, index } => (*base, self.operand(s, *index)?, None),
            Expression::AccessIndex { base, index } => (*base, format!("{index}u32"), Some(*index as usize)),
            other => return Err(format!("{other:?} is not an access")),
        };
        let place = self.operand(s, base)?;
        if self.is_slots(s, base) {
            return Ok(format!("(*{place}.at({index}))"));
        }
        let ty = match self.type_of(s, base) {
            TypeInner::Pointer { base, .. } => self.inner(*base),
            other => other,
        };
        match (ty, constant) {
            (TypeInner::Struct { members, .. }, Some(i)) => Ok(format!("{place}.{}", member_name(&members[i])?)),
            (_, Some(i)) => Ok(format!("{place}[{i}]")),
            (_, None) => Ok(format!("{place}[{index} as usize]")),
        }
    }

    fn binary(&self, s: &Scope<'a>, op: BinaryOperator, left: Handle<Expression>, right: Handle<Expression>) -> Result<String> {
        let (l, r) = (self.operand(s, left)?, self.operand(s, right)?);
        let symbol = match op {
            BinaryOperator::Add => return Ok(format!("{l}.wrapping_add({r})")),
            BinaryOperator::Subtract => return Ok(format!("{l}.wrapping_sub({r})")),
            BinaryOperator::Multiply => return Ok(format!("{l}.wrapping_mul({r})")),
            BinaryOperator::Divide => return Ok(format!("if {r} == 0 {{ {l} }} else {{ {l} / {r} }}")),
            BinaryOperator::Modulo => return Ok(format!("if {r} == 0 {{ 0 }} else {{ {l} % {r} }}")),
            BinaryOperator::ShiftLeft => return Ok(format!("shift_left({l}, {r})")),
            BinaryOperator::ShiftRight => return Ok(format!("shift_right({l}, {r})")),
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::And | BinaryOperator::LogicalAnd => "&",
            BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => "|",
            BinaryOperator::ExclusiveOr => "^",
        };
        match self.type_of(s, left) {
            TypeInner::Vector { size, .. } => {
                let parts: Vec<String> = (0..*size as u32).map(|i| format!("{l}[{i}] {symbol} {r}[{i}]")).collect();
                Ok(format!("[{}]", parts.join(", ")))
            }
            _ => Ok(format!("{l} {symbol} {r}")),
        }
    }

    /// The value of an expression that is evaluated here.
    fn value(&self, s: &Scope<'a>, e: Handle<Expression>) -> Result<String> {
        let operand = |e: Handle<Expression>| self.operand(s, e);
        match &s.function.expressions[e] {
            Expression::Access { .. } | Expression::AccessIndex { .. } => self.access(s, e),
            Expression::Load { pointer } if self.is_atomic(s, *pointer) => {
                Ok(format!("atomic(&raw mut {}).load(Relaxed)", operand(*pointer)?))
            }
            Expression::Load { pointer } => operand(*pointer),
            Expression::Compose { ty, components } => {
                let parts = components.iter().map(|c| operand(*c)).collect::<Result<Vec<_>>>()?;
                self.compose(*ty, &parts)
            }
            Expression::Splat { size, value } => Ok(format!("[{}; {}]", operand(*value)?, *size as u32)),
            Expression::Select { condition, accept, reject } => {
                Ok(format!("if {} {{ {} }} else {{ {} }}", operand(*condition)?, operand(*accept)?, operand(*reject)?))
            }
            Expression::Unary { op: UnaryOperator::LogicalNot | UnaryOperator::BitwiseNot, expr } => Ok(format!("!{}", operand(*expr)?)),
            Expression::Binary { op, left, right } => self.binary(s, *op, *left, *right),
            Expression::Math { fun: MathFunction::CountTrailingZeros, arg, .. } => Ok(format!("{}.trailing_zeros()", operand(*arg)?)),
            Expression::Math { fun, arg, arg1: Some(arg1), .. } => match fun {
                MathFunction::Max => Ok(format!("{}.max({})", operand(*arg)?, operand(*arg1)?)),
                MathFunction::Min => Ok(format!("{}.min({})", operand(*arg)?, operand(*arg1)?)),
                other => Err(format!("function {other:?} is not supported")),
            },
            Expression::Relational { fun: RelationalFunction::All, argument } => Ok(format!("{}.iter().all(|x| *x)", operand(*argument)?)),
            Expression::Relational { fun: RelationalFunction::Any, argument } => Ok(format!("{}.iter().any(|x| *x)", operand(*argument)?)),
            Expression::ArrayLength(array) => Ok(format!("{}.len", operand(*array)?)),
            other => Err(format!("expression {other:?} is not supported")),
        }
    }

    fn block(&mut self, s: &mut Scope<'a>, block: &'a Block) -> Result<()> {
        block.iter().try_for_each(|statement| self.statement(s, statement))
    }

    fn statement(&mut self, s: &mut Scope<'a>, statement: &'a Statement) -> Result<()> {
        match statement {
            Statement::Emit(range) => {
                for e in range.clone() {
                    if !self.is_place(s, e) {
                        let value = self.value(s, e)?;
                        self.line(&format!("let e{} = {value};", e.index()));
                    }
                }
            }
            Statement::Block(b) => {
                self.line("{");
                self.block(s, b)?;
                self.line("}");
            }
            Statement::If { condition, accept, reject } => {
                self.line(&format!("if {} {{", self.operand(s, *condition)?));
                self.block(s, accept)?;
                if !reject.is_empty() {
                    self.line("} else {");
                    self.block(s, reject)?;
                }
                self.line("}");
            }
            Statement::Loop { body, continuing, break_if } => self.repeat(s, body, continuing, *break_if)?,
            Statement::Break => self.line(&format!("break 'l{};", s.loops.last().ok_or("break outside of a loop")?)),
            Statement::Continue => self.line(&format!("break 'b{};", s.loops.last().ok_or("continue outside of a loop")?)),
            Statement::Return { value } => {
                let value = value.map(|v| self.operand(s, v)).transpose()?.unwrap_or_default();
                self.line(&format!("return {value};"));
            }
            Statement::Store { pointer, value } => {
                let (place, v) = (self.operand(s, *pointer)?, self.operand(s, *value)?);
                if self.is_atomic(s, *pointer) {
                    self.line(&format!("atomic(&raw mut {place}).store({v}, Relaxed);"));
                } else {
                    self.line(&format!("{place} = {v};"));
                }
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let method = match fun {
                    AtomicFunction::Add => "fetch_add",
                    AtomicFunction::Min => "fetch_min",
                    AtomicFunction::Max => "fetch_max",
                    AtomicFunction::And => "fetch_and",
                    AtomicFunction::InclusiveOr => "fetch_or",
                    other => return Err(format!("atomic {other:?} is not supported")),
                };
                let (place, v) = (self.operand(s, *pointer)?, self.operand(s, *value)?);
                let bind = result.map(|r| format!("let e{} = ", r.index())).unwrap_or_default();
                self.line(&format!("{bind}atomic(&raw mut {place}).{method}({v}, Relaxed);"));
            }
            Statement::Call { function, arguments, result } => {
                let mut list = vec!["cx".to_owned()];
                for a in arguments {
                    let place = self.operand(s, *a)?;
                    list.push(if self.is_place(s, *a) { format!("&mut {place}") } else { place });
                }
                let name = self.module.functions[*function].name.as_deref().ok_or("a function has no name")?;
                let path = if WIDE.contains(&name) { "crate::wide::" } else { "" };
                let bind = result.map(|r| format!("let e{} = ", r.index())).unwrap_or_default();
                self.line(&format!("{bind}{path}{name}({});", list[usize::from(!path.is_empty())..].join(", ")));
            }
            other => return Err(format!("statement {other:?} is not supported")),
        }
        Ok(())
    }

    /// `continuing` may use values of the body, so the body only gets a scope of its own if something jumps to its end.
    fn repeat(&mut self, s: &mut Scope<'a>, body: &'a Block, continuing: &'a Block, break_if: Option<Handle<Expression>>) -> Result<()> {
        s.n_loops += 1;
        let id = s.n_loops;
        s.loops.push(id);
        self.line(&format!("'l{id}: loop {{"));
        if continues(body) {
            self.line(&format!("'b{id}: {{"));
            self.block(s, body)?;
            self.line("}");
        } else {
            self.block(s, body)?;
        }
        self.block(s, continuing)?;
        if let Some(condition) = break_if {
            self.line(&format!("if {} {{ break 'l{id}; }}", self.operand(s, condition)?));
        }
        self.line("}");
        s.loops.pop();
        Ok(())
    }

    fn function(&mut self, name: &str, function: &'a Function, info: &'a FunctionInfo) -> Result<()> {
        let mut head = String::from("cx: &Cx");
        for (i, a) in function.arguments.iter().enumerate() {
            head += &format!(", a{i}: {}", self.type_name(a.ty)?);
        }
        let result = match &function.result {
            Some(r) => format!(" -> {}", self.type_name(r.ty)?),
            None => String::new(),
        };
        self.line(&format!("/// # Safety\n/// As for [`Cx`].\n#[inline] pub unsafe fn {name}({head}){result} {{ unsafe {{"));
        for (h, v) in function.local_variables.iter() {
            let value = match v.init {
                Some(init) => self.constant(&function.expressions, init)?,
                None => self.zero(v.ty)?,
            };
            self.line(&format!("let mut v{}: {} = {value};", h.index(), self.type_name(v.ty)?));
        }
        let mut scope = Scope { function, info, loops: Vec::new(), n_loops: 0 };
        self.block(&mut scope, &function.body).map_err(|e| format!("function {name}: {e}"))?;
        self.line("}}");
        Ok(())
    }
}
