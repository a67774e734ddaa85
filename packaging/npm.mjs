// Makes npm packages of a release: one for each system with its programs, and one that depends on
// the fitting one and starts it.
//
//   node packaging/npm.mjs dist VERSION TO
//
// dist holds the archives of goreleaser. The packages are written to TO, ready for npm publish.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync, copyFileSync, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { tmpdir } from "node:os";

const [dist, version, to] = process.argv.slice(2);
if (!to) {
  console.error("usage: node packaging/npm.mjs DIST VERSION TO");
  process.exit(64);
}
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const name = "@umpirehq/umpire";
const systems = { linux: "linux", darwin: "darwin", windows: "win32" };
const machines = { amd64: "x64", arm64: "arm64" };
const common = { version, license: "Apache-2.0", homepage: "https://github.com/umpirehq/umpire" };
const about = "Permission system for AI coding agents";

// The program that npm links: it becomes the one of this system, with its arguments and streams.
const starter = `#!/usr/bin/env node
"use strict";
const { spawnSync } = require("node:child_process");
const own = "${name}-" + process.platform + "-" + process.arch;
const file = process.platform === "win32" ? "umpire.exe" : "umpire";
let program;
try {
  program = require.resolve(own + "/bin/" + file);
} catch {
  console.error("umpire: " + own + " is not installed: npm leaves it out with --omit=optional, and there is none for every system");
  process.exit(125);
}
const ended = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error("umpire: " + ended.error.message);
  process.exit(125);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status);
`;

function pack(folder, manifest) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, ...common }, null, 2) + "\n");
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  execFileSync("npm", ["pack", "--silent", "--pack-destination", resolve(to)], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

function unpack(archive, into) {
  if (archive.endsWith(".zip")) execFileSync("unzip", ["-q", archive, "-d", into]);
  else execFileSync("tar", ["-xzf", archive, "-C", into]);
}

mkdirSync(to, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "umpire-npm-"));
try {
  const parts = {};
  for (const [system, os] of Object.entries(systems)) {
    for (const [machine, cpu] of Object.entries(machines)) {
      const suffix = system === "windows" ? ".exe" : "";
      const archive = join(dist, `umpire_${system}_${machine}${suffix ? ".zip" : ".tar.gz"}`);
      if (!existsSync(archive)) continue;
      const opened = join(work, system + machine), folder = join(work, os + cpu);
      mkdirSync(opened);
      mkdirSync(join(folder, "bin"), { recursive: true });
      unpack(archive, opened);
      for (const program of ["umpire", "umpire-hook"]) {
        renameSync(join(opened, program + suffix), join(folder, "bin", program + suffix));
      }
      const part = `${name}-${os}-${cpu}`;
      pack(folder, { name: part, description: `${about}: its programs for ${os}-${cpu}`, os: [os], cpu: [cpu] });
      parts[part] = version;
    }
  }
  if (Object.keys(parts).length === 0) throw new Error(`no archive of a release in ${dist}`);
  const main = join(work, "main");
  mkdirSync(join(main, "bin"), { recursive: true });
  writeFileSync(join(main, "bin", "umpire.js"), starter, { mode: 0o755 });
  copyFileSync(join(root, "README.md"), join(main, "README.md"));
  pack(main, { name, description: about, bin: { umpire: "bin/umpire.js" }, optionalDependencies: parts });
} finally {
  rmSync(work, { recursive: true });
}
