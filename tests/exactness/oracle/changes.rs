//! Changes of the fabric on the way: links that fail, new tables.

use fabricsim::case::Change;

use super::Oracle;

impl Oracle<'_> {
    pub fn apply(&mut self, change: &Change) {
        self.now = change.at_ps;
        for port in &change.down {
            self.take_down(*port as usize);
        }
        if let Some(lft) = &change.lft {
            self.lft.clone_from(lft);
        }
        if let Some(routes) = &change.routes {
            self.routes = routes.clone();
        }
    }

    fn take_down(&mut self, port: usize) {
        self.ports[port].down = true;
        self.lose_on_the_way(port);
        for row in 1..=self.case.classes.len() {
            let q = self.q(port, row);
            self.resume(q);
        }
        let node = self.node_of(port);
        if self.case.credits.is_some() {
            self.soon(port);
        } else if self.is_switch(node) {
            self.schedule(port);
        } else {
            self.look(node);
        }
    }
}
