import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { findBinary } from '../src/binary.js';

const PACKAGE = join(import.meta.dirname, '..');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'appduct-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function program(...path: string[]): string {
  const file = join(folder, ...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '#!/bin/sh\n');
  chmodSync(file, 0o755);
  return file;
}

test('APPDUCT_BIN goes before PATH', () => {
  const [named, onPath] = [program('named'), program('bin/appduct')];
  expect(findBinary({ APPDUCT_BIN: named, PATH: join(folder, 'bin') })).toBe(named);
  expect(findBinary({ APPDUCT_BIN: '', PATH: join(folder, 'bin') })).toBe(onPath);
});

test('an APPDUCT_BIN that is no program is an error and nothing else is tried', () => {
  const PATH = join(program('bin/appduct'), '..');
  expect(() => findBinary({ APPDUCT_BIN: folder, PATH })).toThrow(/is no program/);
  expect(() => findBinary({ APPDUCT_BIN: join(folder, 'none'), PATH })).toThrow(/is no program/);
});

test('what is no program is passed over on PATH, and an empty entry is no folder', () => {
  mkdirSync(join(folder, 'one/appduct'), { recursive: true });
  mkdirSync(join(folder, 'two'));
  writeFileSync(join(folder, 'two/appduct'), '', { mode: 0o644 });
  const found = program('three/appduct');
  const PATH = ['', ...['none', 'one', 'two', 'three'].map((name) => join(folder, name))].join(delimiter);
  expect(findBinary({ PATH })).toBe(found);
});

test('where it is nowhere the error names what to install', () => {
  const error = (() => {
    try {
      return findBinary({ PATH: folder });
    } catch (failure) {
      return failure;
    }
  })();
  const name = `@appduct/cli-${process.platform}-${process.arch}`;
  expect(error).toMatchObject({ type: 'connection_error', hint: expect.stringContaining(name) });
});

test('the package as it is published finds the command in the npm package beside it', async () => {
  const modules = join(folder, 'node_modules/@appduct');
  const { files } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as { files: string[] };
  for (const name of ['package.json', ...files]) {
    cpSync(join(PACKAGE, name), join(modules, 'client', name), { recursive: true });
  }
  const carrier = join(modules, `cli-${process.platform}-${process.arch}`);
  mkdirSync(join(carrier, 'bin'), { recursive: true });
  writeFileSync(join(carrier, 'package.json'), '{"name":"carrier","version":"1.0.0","bin":{"appduct":"bin/appduct"}}');
  symlinkSync(findBinary(), join(carrier, 'bin/appduct'));
  const stateDir = join(folder, 'state');
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(join(stateDir, 'config.json'), '{"wssPort":0,"advertisedIp":"127.0.0.1"}');
  const script = `
    import { link, VERSION } from '@appduct/client';
    const { url } = await link({ scheme: 'appduct', stateDir: ${JSON.stringify(stateDir)} });
    console.log(VERSION, url.split('?')[0]);
  `;
  writeFileSync(join(folder, 'script.mjs'), script);
  const run = promisify(execFile);
  try {
    const { stdout } = await run(process.execPath, [join(folder, 'script.mjs')], { env: { HOME: folder, PATH: folder } });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\S* appduct:\/\/\/\n$/);
  } finally {
    await run(findBinary(), ['daemon', 'stop', '--state-dir', stateDir]).catch(() => {});
  }
});
