import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { findBinary } from '../src/binary.js';
import { nameMatcher } from '../src/events.js';
import type { AppClient } from '../src/index.js';
import { TestDaemon } from '../src/test_daemon.js';
import { FakeDaemon, line } from './fake_daemon.js';

let daemon: TestDaemon;
let client: AppClient;
let app: ChildProcess;

/** Each line on its standard input posts a ping. */
async function start(on: TestDaemon): Promise<{ sessionId: string }> {
  const { sessionId, url } = await on.link({ scheme: 'appduct' });
  app = spawn(findBinary(), ['playground', '--link', url], { stdio: ['pipe', 'ignore', 'inherit'] });
  return { sessionId };
}

function ping(): void {
  app.stdin?.write('\n');
}

beforeAll(async () => {
  daemon = await TestDaemon.start();
});

afterAll(async () => {
  await daemon?.stop();
});

beforeEach(async () => {
  const session = await daemon.startApp(start);
  client = await daemon.connect(session.sessionId);
  return async () => {
    await client.close();
    const gone = once(app, 'exit');
    if (app.exitCode === null && app.signalCode === null) {
      app.kill('SIGTERM');
      await gone;
    }
  };
});

test('an event that the app posts is waited for', async () => {
  const wait = client.waitForEvent<{ at: number }>('playground_*');
  ping();
  const event = await wait;
  expect(event).toMatchObject({ kind: 'app_event', sessionId: client.sessionId, seq: 1 });
  expect(event.data).toMatchObject({ name: 'playground_ping', payload: { at: expect.any(Number) } });
});

test('an event from before the wait counts unless since says otherwise', async () => {
  ping();
  await client.waitForEvent('playground_ping');
  expect((await client.waitForEvent('playground_ping')).seq).toBe(1);
  const later = client.waitForEvent('playground_ping', { since: 1 });
  ping();
  expect((await later).seq).toBe(2);
  expect(await client.eventCursor()).toBe(2);
  ping();
  const third = client.waitForEvent('*', { where: ({ seq }) => seq === 3 });
  expect((await third).seq).toBe(3);
});

test('a wait that nothing answers is a timeout, and can be aborted', async () => {
  await expect(client.waitForEvent('nothing', { timeoutMs: 50 })).rejects.toMatchObject({ type: 'timeout' });
  const wait = client.waitForEvent('nothing', { signal: AbortSignal.timeout(50) });
  await expect(wait).rejects.toMatchObject({ type: 'client_error', cause: { name: 'TimeoutError' } });
});

test('a stream tells what was kept and then what comes, each once', async () => {
  ping();
  ping();
  await client.waitForEvent('*', { since: 1 });
  const seen: number[] = [];
  for await (const { seq } of client.events({ since: 0 })) {
    seen.push(seq);
    if (seen.length === 2) ping();
    if (seen.length === 3) break;
  }
  expect(seen).toEqual([1, 2, 3]);
  expect(await client.eventsSince({ since: 1, limit: 1 })).toMatchObject({ cursor: 2, remaining: 1, dropped: 0 });
});

test('a stream tells of calls where that is asked for', async () => {
  await using stream = await client.events({ kinds: ['tool_call_started', 'tool_call_finished'], name: 'sum' }).ready();
  await client.call('call_count');
  await client.call('sum', { a: 1, b: 2 });
  const kinds = [(await stream.next()).value?.kind, (await stream.next()).value?.kind];
  expect(kinds).toEqual(['tool_call_started', 'tool_call_finished']);
});

test('the end of the session ends streams and rejects waits', async () => {
  const stream = await client.events().ready();
  const loop = (async () => {
    for await (const event of stream) void event;
  })();
  const wait = client.waitForEvent('never');
  await Promise.all([client.events().ready(), expect(client.revoke()).resolves.toBeUndefined()]);
  await expect(wait).rejects.toMatchObject({ type: 'unknown_session' });
  await expect(loop).resolves.toBeUndefined();
});

test('closing the client rejects waits, and later ones at once', async () => {
  const wait = expect(client.waitForEvent('never')).rejects.toMatchObject({ type: 'connection_error' });
  await client.close();
  await wait;
  await expect(client.waitForEvent('never')).rejects.toMatchObject({ type: 'connection_error' });
  expect(() => client.events()).toThrow('the client was closed');
});

test('a reader that is slow misses nothing', async () => {
  const many = 5000;
  await using fake = await new FakeDaemon((_, socket) => {
    const event = (seq: number) => ({ kind: 'app_event', sessionId: 's1', data: { name: 'n', ts: 1 }, ts: 1, seq });
    setImmediate(() => {
      for (let seq = 1; seq <= many; seq += 1) {
        socket.write(line({ jsonrpc: '2.0', method: 'event', params: event(seq) }));
      }
    });
    return { ok: true };
  }).listen();
  const { connect } = await import('../src/index.js');
  await using slow = await connect({ stateDir: fake.stateDir, autoSpawn: false });
  let last = 0;
  for await (const { seq } of slow.events()) {
    expect(seq).toBe(last + 1);
    last = seq;
    if (seq % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (seq === many) break;
  }
  expect(last).toBe(many);
});

test('a name stands for itself but for its stars', () => {
  const all = ['', 'a', 'a.b', 'axb', 'a.b.c', 'A', 'line\nbreak'];
  const taken = (pattern: string) => all.filter(nameMatcher(pattern));
  expect(taken('*')).toEqual(all);
  expect(taken('a.b')).toEqual(['a.b']);
  expect(taken('a*b')).toEqual(['a.b', 'axb']);
  expect(taken('a*')).toEqual(['a', 'a.b', 'axb', 'a.b.c']);
  expect(taken('*\n*')).toEqual(['line\nbreak']);
  expect(taken('[a]')).toEqual([]);
});
