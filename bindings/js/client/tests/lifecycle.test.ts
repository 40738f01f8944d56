import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, beforeEach, expect, test } from 'vitest';

import type { Tools } from '../examples/tools.js';
import { findBinary } from '../src/binary.js';
import { connect, link, waitForSession } from '../src/index.js';
import { playground, TestDaemon } from '../src/test_daemon.js';

const run = promisify(execFile);

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'appduct-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('a daemon is started where none answers, and many at once start one', async () => {
  writeFileSync(join(folder, 'config.json'), '{"wssPort":0,"advertisedIp":"127.0.0.1"}');
  const links = await Promise.all([1, 2, 3].map(() => link({ target: 'web', url: 'http://127.0.0.1/', stateDir: folder })));
  try {
    expect(new Set(links.map(({ sessionId }) => sessionId)).size).toBe(3);
    await expect(connect({ stateDir: folder })).rejects.toMatchObject({
      type: 'no_session',
      hint: expect.stringContaining('waitForSession'),
    });
  } finally {
    await run(findBinary(), ['daemon', 'stop', '--state-dir', folder]);
  }
});

test('without autoSpawn nothing is started', async () => {
  const refused = connect({ stateDir: folder, autoSpawn: false });
  await expect(refused).rejects.toMatchObject({ type: 'connection_error' });
  expect(existsSync(join(folder, 'daemon.lock'))).toBe(false);
});

test.each(['with space', `quo'te"$(id)`, 'ümläut 😀', '-n', '--state-dir=x', 'new\nline'])(
  'the state directory %j is taken as it is',
  async (name) => {
    const stateDir = join(folder, name);
    mkdirSync(stateDir, { mode: 0o700 });
    writeFileSync(join(stateDir, 'config.json'), '{"wssPort":0,"advertisedIp":"127.0.0.1"}');
    try {
      const made = await link({ scheme: 'appduct', stateDir });
      expect(made.url).toMatch(/^appduct:\/\/\/\?appduct=/);
      await expect(connect({ stateDir })).rejects.toMatchObject({ type: 'no_session' });
    } finally {
      await run(findBinary(), ['daemon', 'stop', `--state-dir=${stateDir}`]);
    }
  },
);

test('a state directory that cannot be one is a clear error', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const loop = join(folder, 'loop');
  symlinkSync(loop, loop);
  for (const stateDir of [file, loop, join(folder, 'x'.repeat(200))]) {
    await expect(connect({ stateDir })).rejects.toMatchObject({ type: 'connection_error' });
  }
  for (const stateDir of ['', 'a\0b']) {
    await expect(connect({ stateDir })).rejects.toMatchObject({ type: 'client_error' });
  }
});

test('the app that is killed mid-call leaves a suspended session behind', async () => {
  const daemon = await TestDaemon.start();
  try {
    const session = await daemon.startApp(playground());
    await using client = await daemon.connect<Tools>();
    const call = client.call('slow_task', {}, { onProgress: () => void daemon.killApps() });
    await expect(call).rejects.toMatchObject({ type: 'session_suspended' });
    expect(await client.session()).toMatchObject({ sessionId: session.sessionId, state: 'suspended' });
    await expect(client.call('sum', { a: 1, b: 1 })).rejects.toMatchObject({ type: 'session_suspended' });
    await expect(daemon.waitForSession(session.sessionId, { timeoutMs: 50 })).rejects.toMatchObject({ type: 'timeout' });
    await client.revoke();
    await expect(client.call('sum', { a: 1, b: 1 })).rejects.toMatchObject({ type: 'unknown_session' });
  } finally {
    await daemon.stop();
  }
});

test('the daemon that is killed mid-call rejects everything, and the client finds the next daemon', async () => {
  const daemon = await TestDaemon.start();
  try {
    const session = await daemon.startApp(playground());
    const options = { selector: session.sessionId, stateDir: daemon.stateDir };
    await using client = await connect<Tools>(options);
    const stream = await client.events().ready();
    const plain = client.call('slow_task');
    const event = client.waitForEvent('never');
    let killed: Promise<void> | undefined;
    const followed = client.call('slow_task', {}, { onProgress: () => (killed = daemon.kill()) });
    const all = await Promise.allSettled([plain, followed, event, stream.next()]);
    const type = 'connection_error';
    expect(all).toMatchObject(Array(4).fill({ status: 'rejected', reason: { type } }));
    // Until it is gone its socket may take one more connection.
    await killed;
    // The next request starts a daemon, and the app resumes its session there.
    await waitForSession(session.sessionId, { stateDir: daemon.stateDir });
    expect(await client.call('sum', { a: 20, b: 22 })).toEqual({ total: 42 });
  } finally {
    // Where the test has failed earlier there is no second daemon.
    await run(findBinary(), ['daemon', 'stop', '--state-dir', daemon.stateDir]).catch(() => {});
    await daemon.stop();
  }
});

test('a link that runs out ends the wait for its session', async () => {
  const daemon = await TestDaemon.start();
  try {
    const made = await daemon.link({ scheme: 'appduct', ttlSeconds: 1 });
    await expect(daemon.waitForSession(made)).rejects.toMatchObject({ type: 'unknown_session' });
    await expect(daemon.waitForSession(made)).rejects.toMatchObject({ type: 'unknown_session' });
  } finally {
    await daemon.stop();
  }
});

test('a wait for a session can be aborted', async () => {
  const daemon = await TestDaemon.start();
  try {
    const { sessionId } = await daemon.link({ scheme: 'appduct' });
    const stop = new AbortController();
    const wait = waitForSession(sessionId, { stateDir: daemon.stateDir, signal: stop.signal });
    stop.abort('enough');
    await expect(wait).rejects.toMatchObject({ type: 'client_error', cause: 'enough' });
  } finally {
    await daemon.stop();
  }
});

test('a link keeps the fragment of its page and refuses what is no page', async () => {
  const daemon = await TestDaemon.start();
  try {
    const made = await daemon.link({ target: 'web', url: 'http://localhost:3000/shop?x=1#tab=2' });
    expect(made.url).toMatch(/^http:\/\/localhost:3000\/shop\?x=1#tab=2&appduct=[\w-]+$/);
    for (const url of [undefined, 'shop', 'file:///etc/hosts']) {
      await expect(daemon.link({ target: 'web', url })).rejects.toMatchObject({ type: 'client_error' });
    }
    await expect(daemon.link({ scheme: '://' })).rejects.toMatchObject({ type: 'usage_error' });
  } finally {
    await daemon.stop();
  }
});

test('an app that ends before it is connected says what it printed', async () => {
  const daemon = await TestDaemon.start();
  try {
    const app = { command: [process.execPath, '-e', 'console.log("no display"); process.exit(3)'] as [string, ...string[]] };
    await expect(daemon.startApp(app)).rejects.toMatchObject({
      message: 'the app: it ended with status 3',
      details: { output: 'no display\n' },
    });
    await expect(daemon.startApp({ command: [join(folder, 'none')] })).rejects.toMatchObject({ type: 'connection_error' });
  } finally {
    await daemon.stop();
    expect(existsSync(daemon.stateDir)).toBe(false);
  }
});
