//! Rules about what a crate may know.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Finding;
use super::repo::Repo;

/// Which of the project's crates each of them may build on. A crate that is not listed here may not exist.
const ARROWS: &[(&str, &[&str])] = &[
    ("appduct-proto", &[]),
    ("appduct-rpc", &["appduct-proto"]),
    ("appduct-daemon", &["appduct-proto", "appduct-rpc"]),
    ("appduct", &["appduct-proto"]),
    ("appduct-cli", &["appduct", "appduct-daemon", "appduct-proto", "appduct-rpc"]),
    ("appduct-sim", &["appduct-proto"]),
    ("appduct-fuzz", &["appduct-daemon", "appduct-proto", "appduct-rpc"]),
    ("appduct-bench", &["appduct-proto", "appduct-rpc"]),
    ("xtask", &[]),
];

/// What must not be built into a crate, however deep below it.
const ABSENCES: &[(&str, &[&str])] = &[
    (
        "appduct-proto",
        &["tokio", "rustls", "ring", "getrandom", "mio", "socket2", "rustix", "tungstenite", "tracing", "log"],
    ),
    ("appduct-rpc", &["tokio", "rustls", "ring", "tungstenite"]),
    // A run follows from its seed, so nothing in it may make randomness or wait for the world.
    ("appduct-sim", &["tokio", "getrandom", "mio", "socket2"]),
];

/// Names that the sources in a folder may not use, unless the file's path begins with the exception.
const ROOMS: &[Room] = &[
    Room { folder: "crates/appduct-proto/src/", name: "std::fs", except: "", why: "the protocol does no IO" },
    Room {
        folder: "crates/appduct-proto/src/",
        name: "std::env",
        except: "",
        why: "the environment is read by the driver",
    },
    Room { folder: "crates/appduct-proto/src/", name: "std::process", except: "", why: "the protocol does no IO" },
    Room {
        folder: "crates/appduct-proto/src/",
        name: "std::thread",
        except: "",
        why: "nothing in the protocol runs by itself",
    },
    Room {
        folder: "crates/appduct-proto/src/",
        name: "std::net::Tcp",
        except: "",
        why: "the protocol opens no socket",
    },
    Room {
        folder: "crates/appduct-proto/src/",
        name: "std::net::Udp",
        except: "",
        why: "the protocol opens no socket",
    },
    Room {
        folder: "crates/appduct-rpc/src/",
        name: "appduct_proto::host",
        except: "",
        why: "the control API knows the wire only",
    },
    Room {
        folder: "crates/appduct-rpc/src/",
        name: "appduct_proto::app",
        except: "",
        why: "the control API knows the wire only",
    },
    Room {
        folder: "crates/appduct-daemon/src/",
        name: "appduct_proto::app",
        except: "",
        why: "the daemon is the other end",
    },
    Room { folder: "sim/src/world/", name: "std::time::Instant", except: "", why: "a run has a time of its own" },
    Room { folder: "sim/src/", name: "std::time::SystemTime", except: "", why: "a run has a time of its own" },
    Room { folder: "sim/src/", name: "HashMap", except: "", why: "its order differs between runs" },
    Room { folder: "sim/src/", name: "HashSet", except: "", why: "its order differs between runs" },
    Room { folder: "crates/appduct/src/", name: "appduct_proto::host", except: "", why: "the SDK is the other end" },
    Room {
        folder: "crates/appduct-cli/src/",
        name: "appduct_daemon",
        except: "crates/appduct-cli/src/commands/daemon",
        why: "every other command reaches the daemon over its socket",
    },
];

struct Room {
    folder: &'static str,
    name: &'static str,
    except: &'static str,
    why: &'static str,
}

pub(super) fn between_crates(repo: &Repo) -> Vec<Finding> {
    let packages = repo.metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = packages.iter().filter(|package| package["source"].is_null()).collect::<Vec<_>>();
    let our_names = ours.iter().map(|package| text(&package["name"])).collect::<BTreeSet<_>>();
    let mut findings = Vec::new();
    for package in &ours {
        let name = text(&package["name"]);
        let manifest = manifest_of(repo, name);
        let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
            findings.push(Finding::new(&manifest, 1, format!("the crate {name} has no place among the arrows")));
            continue;
        };
        let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Tests may bring the two ends together.
        for dependency in dependencies.iter().filter(|dependency| dependency["kind"] != "dev") {
            let to = text(&dependency["name"]);
            if our_names.contains(to) && !allowed.contains(&to) {
                findings.push(Finding::new(
                    &manifest,
                    line_of(repo, &manifest, to),
                    format!("{name} may not build on {to}"),
                ));
            }
        }
    }
    findings
}

pub(super) fn absences(repo: &Repo) -> Vec<Finding> {
    let graph = Graph::read(&repo.metadata);
    let mut findings = Vec::new();
    for (name, forbidden) in ABSENCES {
        let manifest = manifest_of(repo, name);
        for (found, path) in graph.below(name) {
            if forbidden.contains(&found.as_str()) {
                findings.push(Finding::new(&manifest, 1, format!("{name} builds on {found} ({})", path.join(" -> "))));
            }
        }
    }
    findings
}

pub(super) fn rooms(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.rust() {
        for room in ROOMS.iter().filter(|room| file.path.starts_with(room.folder)) {
            if !room.except.is_empty() && file.path.starts_with(room.except) {
                continue;
            }
            let lines = file.production().filter(|(_, line)| !line.trim_start().starts_with("//"));
            for (number, _) in lines.filter(|(_, line)| names(line, room.name)) {
                findings.push(Finding::new(&file.path, number, format!("names `{}`: {}", room.name, room.why)));
            }
        }
    }
    findings
}

/// Whether `line` has `name` as a whole, or as the beginning of a path. `std::net::Tcp` stands for all that begins so.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let rest = &line[at + name.len()..];
        name.ends_with("Tcp")
            || name.ends_with("Udp")
            || !rest.starts_with(|next: char| next == '_' || next.is_alphanumeric())
    })
}

/// Who depends on whom in what is shipped: neither in tests nor while building.
struct Graph<'a> {
    /// Package id to name.
    names: BTreeMap<&'a str, &'a str>,
    edges: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    fn read(metadata: &'a Value) -> Self {
        let mut graph = Self { names: BTreeMap::new(), edges: BTreeMap::new() };
        for package in metadata["packages"].as_array().into_iter().flatten() {
            graph.names.insert(text(&package["id"]), text(&package["name"]));
        }
        for node in metadata["resolve"]["nodes"].as_array().into_iter().flatten() {
            let edges = graph.edges.entry(text(&node["id"])).or_default();
            for dependency in node["deps"].as_array().into_iter().flatten() {
                let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
                if kinds.any(|kind| kind["kind"].is_null()) {
                    edges.push(text(&dependency["pkg"]));
                }
            }
        }
        graph
    }

    /// Everything below the crate called `name`, each with one path to it.
    fn below(&self, name: &str) -> BTreeMap<String, Vec<String>> {
        let mut found = BTreeMap::new();
        let start = self.names.iter().filter(|(_, known)| **known == name).map(|(id, _)| (*id, Vec::new()));
        let mut open = start.collect::<Vec<(&str, Vec<String>)>>();
        while let Some((id, path)) = open.pop() {
            for next in self.edges.get(id).into_iter().flatten() {
                let Some(name) = self.names.get(next) else { continue };
                let path = path.iter().cloned().chain([(*name).to_owned()]).collect::<Vec<_>>();
                if found.insert((*name).to_owned(), path.clone()).is_none() {
                    open.push((next, path));
                }
            }
        }
        found
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The manifest of the crate called `name`, which names its folder.
fn manifest_of(repo: &Repo, name: &str) -> String {
    let in_crates = format!("crates/{name}/Cargo.toml");
    if repo.holds(&in_crates) {
        return in_crates;
    }
    // What is no crate of the product lies at the root, in a folder without the product's name.
    format!("{}/Cargo.toml", name.strip_prefix("appduct-").unwrap_or(name))
}

fn line_of(repo: &Repo, path: &str, word: &str) -> usize {
    let file = repo.files.iter().find(|file| file.path == path);
    file.and_then(|file| file.lines().find(|(_, line)| line.starts_with(word)).map(|(number, _)| number)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dependency(name: &str, kind: Option<&str>) -> Value {
        json!({"name": name, "kind": kind})
    }

    fn package(name: &str, dependencies: Vec<Value>) -> Value {
        json!({"name": name, "id": name, "source": null, "dependencies": dependencies})
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_found_at_its_line() {
        let mut repo =
            Repo::of(&[("crates/appduct-rpc/Cargo.toml", "[dependencies]\nappduct-daemon.workspace = true\n")]);
        repo.metadata = json!({"packages": [
            package("appduct-rpc", vec![dependency("appduct-proto", None), dependency("appduct-daemon", None)]),
            package("appduct-proto", vec![]),
            package("appduct-daemon", vec![dependency("appduct", Some("dev"))]),
            package("appduct", vec![]),
        ]});
        let found = between_crates(&repo);
        assert_eq!(
            found,
            [Finding::new("crates/appduct-rpc/Cargo.toml", 2, "appduct-rpc may not build on appduct-daemon")]
        );
    }

    #[test]
    fn a_crate_without_a_place_is_found() {
        let mut repo = Repo::of(&[("crates/appduct-extras/Cargo.toml", "")]);
        repo.metadata = json!({"packages": [package("appduct-extras", vec![])]});
        assert_eq!(between_crates(&repo)[0].path, "crates/appduct-extras/Cargo.toml");
    }

    #[test]
    fn what_must_be_absent_is_found_however_deep_but_not_in_tests() {
        let edge = |to: &str, kind: Option<&str>| json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        let mut repo = Repo::of(&[("crates/appduct-proto/Cargo.toml", "")]);
        let packages = ["appduct-proto", "rand", "getrandom", "proptest", "tokio"].map(|name| package(name, vec![]));
        repo.metadata = json!({"packages": packages, "resolve": {"nodes": [
            {"id": "appduct-proto", "deps": [edge("rand", None), edge("proptest", Some("dev"))]},
            {"id": "rand", "deps": [edge("getrandom", None)]},
            {"id": "proptest", "deps": [edge("tokio", None)]},
        ]}});
        let found = absences(&repo);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].message.ends_with("(rand -> getrandom)"), "{found:?}");
    }

    #[test]
    fn a_name_of_another_room_is_found_in_production_only() {
        let repo = Repo::of(&[
            ("crates/appduct-cli/src/commands/ls.rs", "use appduct_daemon::run;\n"),
            ("crates/appduct-cli/src/commands/daemon.rs", "use appduct_daemon::run;\n"),
            ("crates/appduct-rpc/src/lib.rs", "use appduct_proto::host_key;\nuse appduct_proto::host::Host;\n"),
            ("crates/appduct-proto/src/tests/mod.rs", "use std::fs;\n"),
            (
                "crates/appduct-proto/src/link.rs",
                "/// Not a std::net::TcpStream.\nuse std::net::{TcpStream, Ipv4Addr};\n",
            ),
            ("crates/appduct-proto/src/pin.rs", "use std::net::Ipv4Addr;\nlet _: std::net::TcpStream;\n"),
        ]);
        let found = rooms(&repo).into_iter().map(|found| (found.path, found.line)).collect::<Vec<_>>();
        let at = |path: &str, line| (path.to_owned(), line);
        assert_eq!(
            found,
            [
                at("crates/appduct-cli/src/commands/ls.rs", 1),
                at("crates/appduct-rpc/src/lib.rs", 2),
                at("crates/appduct-proto/src/pin.rs", 2),
            ]
        );
    }
}
