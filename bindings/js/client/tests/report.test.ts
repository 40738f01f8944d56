import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

const require = createRequire(import.meta.url);
const FAILING = join(import.meta.dirname, 'failing');

/** Runs a test runner in which one test fails and one does not, with a directory of its own for what is temporary. */
async function run(script: string, args: string[]): Promise<{ report: Record<string, unknown>; left: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'ad-'));
  try {
    const env = { ...process.env, REPORTS: join(folder, 'reports'), TMPDIR: folder };
    const child = spawn(process.execPath, [script, ...args, join(folder, 'reports')], {
      cwd: join(import.meta.dirname, '..'),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    const [status] = await once(child, 'close');
    expect(status, output).toBe(1);
    expect(output).toContain('appduct.json');
    const reports = readdirSync(join(folder, 'reports'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('appduct.json'),
    );
    expect(reports.length).toBe(1);
    const report = JSON.parse(readFileSync(join(folder, 'reports', String(reports[0])), 'utf8'));
    return { report, left: readdirSync(folder).filter((name) => name.startsWith('appduct-')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const REPORT = {
  session: { alias: 'playground', state: 'active' },
  calls: [{ tool: 'sum', args: { a: 2, b: 2 }, result: { total: 4 } }],
  events: [],
  appOutput: expect.stringContaining('sum returned {"total":4}'),
};

test('a test of Vitest that fails leaves a report, and its worker leaves nothing', async () => {
  const script = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const config = join(FAILING, 'vitest.config.ts');
  const { report, left } = await run(script, ['run', '--config', config, '--attachmentsDir']);
  expect(report).toMatchObject(REPORT);
  expect(left).toEqual([]);
});

test('a test of Playwright that fails leaves a report, and its worker leaves nothing', async () => {
  const script = join(dirname(require.resolve('@playwright/test/package.json')), 'cli.js');
  const config = join(FAILING, 'playwright.config.ts');
  const { report, left } = await run(script, ['test', '--config', config, '--output']);
  expect(report).toMatchObject(REPORT);
  expect(left).toEqual([]);
});

test('a runner that is killed mid-test leaves no daemon', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ad-'));
  const script = join(dirname(require.resolve('vitest/package.json')), 'vitest.mjs');
  const child = spawn(process.execPath, [script, 'run', '--config', join(import.meta.dirname, 'hanging/vitest.config.ts')], {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text) => {
        output += text;
        if (output.includes('it hangs')) resolve();
      });
      child.once('exit', () => reject(new Error(output)));
    });
    const daemons = () => readdirSync(folder).filter((name) => name.startsWith('appduct-'));
    expect(daemons().length).toBe(1);
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    // The directory goes after the daemon.
    await expect.poll(daemons, { timeout: 60_000 }).toEqual([]);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
