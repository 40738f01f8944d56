import { once } from 'node:events';
import type { Socket } from 'node:net';

import { expect, test } from 'vitest';

import { connect } from '../src/index.js';
import { isSame } from '../src/version.js';
import { FakeDaemon, line, type Request } from './fake_daemon.js';

async function clientOf(daemon: FakeDaemon, requestTimeoutMs = 60_000) {
  return connect({ stateDir: daemon.stateDir, autoSpawn: false, requestTimeoutMs });
}

function reply({ id }: Request, result: unknown): string {
  return line({ jsonrpc: '2.0', id, result: { result, callId: `call_${id}` } });
}

test('replies in one chunk and in any order reach their callers', async () => {
  const waiting: Request[] = [];
  await using daemon = await new FakeDaemon((request, socket) => {
    waiting.push(request);
    if (waiting.length === 3) socket.write(waiting.reverse().map((one) => reply(one, one.params['name'])).join(''));
  }).listen();
  await using client = await clientOf(daemon);
  expect(await Promise.all(['a', 'b', 'c'].map((name) => client.call<string>(name)))).toEqual(['a', 'b', 'c']);
});

test('a reply of three megabytes in odd pieces comes whole', async () => {
  const text = 'ä€😀'.repeat(350_000);
  await using daemon = await new FakeDaemon((request, socket) => {
    const bytes = Buffer.from(reply(request, text));
    for (let at = 0; at < bytes.length; at += 65_521) socket.write(bytes.subarray(at, at + 65_521));
  }).listen();
  await using client = await clientOf(daemon);
  const result = await client.call<string>('large');
  expect(result.length).toBe(text.length);
  expect(result === text).toBe(true);
});

test('a daemon that goes away mid-call rejects all that is pending, and nothing is sent twice', async () => {
  const calls: Socket[] = [];
  await using daemon = await new FakeDaemon((request, socket) => {
    if (request.params['name'] === 'again') return { result: 'back', callId: 'c' };
    if (calls.push(socket) === 2) socket.destroy();
    return undefined;
  }).listen();
  await using client = await clientOf(daemon);
  const [one, two] = await Promise.allSettled([client.call('one'), client.call('two')]);
  expect([one, two]).toMatchObject([
    { status: 'rejected', reason: { type: 'connection_error' } },
    { status: 'rejected', reason: { type: 'connection_error' } },
  ]);
  expect(await client.call<string>('again')).toBe('back');
  expect(daemon.requests.filter(({ method }) => method === 'tools.call').length).toBe(3);
});

test.each(['no JSON\n', '7\n', 'null\n', '[1\n'])('%j from the daemon ends the connection with an error', async (text) => {
  await using daemon = await new FakeDaemon((_, socket) => void socket.write(text)).listen();
  await using client = await clientOf(daemon);
  await expect(client.call('any')).rejects.toMatchObject({ type: 'connection_error' });
});

test('replies that nobody asked for are ignored', async () => {
  await using daemon = await new FakeDaemon((request, socket) => {
    const strange = [{ id: null, error: {} }, { id: 99, result: 1 }, { id: '1' }, { method: 'other' }, { params: {} }];
    socket.write(strange.map(line).join('') + reply(request, 'mine'));
  }).listen();
  await using client = await clientOf(daemon);
  expect(await client.call<string>('any')).toBe('mine');
});

test('a silent daemon is a timeout and no lost connection', async () => {
  await using daemon = await new FakeDaemon((request) => (request.method === 'events.since' ? undefined : [])).listen();
  await using client = await clientOf(daemon, 5000);
  await expect(client.eventsSince()).rejects.toMatchObject({ type: 'timeout' });
  expect(await client.tools()).toEqual([]);
  expect(daemon.sockets.size).toBe(1);
});

test('a bare list of tools from an old daemon is taken', async () => {
  await using daemon = await new FakeDaemon(() => [{ name: 'old', description: 'd' }]).listen();
  await using client = await clientOf(daemon);
  expect(await client.tools()).toEqual([{ name: 'old', description: 'd', group: null }]);
});

test.each(['0.0.1', '99.0.0', 'tomorrow'])('a daemon of version %s is used and warned of', async (version) => {
  await using daemon = await new FakeDaemon(() => ({ result: 1, callId: 'c' }), version).listen();
  const warned = once(process, 'warning') as Promise<[Error & { code?: string }]>;
  await using client = await clientOf(daemon);
  expect(await client.call<number>('any')).toBe(1);
  expect(client.daemonVersion).toBe(version);
  const [warning] = await warned;
  expect(warning.code).toBe('APPDUCT_VERSION');
  expect(warning.message).toContain(version);
  expect(daemon.requests.some(({ method }) => method === 'daemon.shutdown')).toBe(false);
});

test('versions are the same whatever their build and missing numbers', () => {
  expect([isSame('1.2', '1.2.0'), isSame('1.2.0+a', '1.2.0+b'), isSame('1.2.0-a.1+x', '1.2-a.1')]).toEqual([true, true, true]);
  expect([isSame('1.2.0', '1.2.1'), isSame('1.2.0-a', '1.2.0')]).toEqual([false, false]);
});

test('what is no JSON and what is too long is refused before it is sent', async () => {
  await using daemon = await new FakeDaemon(() => ({ result: 1, callId: 'c' })).listen();
  await using client = await clientOf(daemon);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const type = 'tool_serialization_error';
  await expect(client.call('any', circle)).rejects.toMatchObject({ type });
  await expect(client.call('any', { big: 1n })).rejects.toMatchObject({ type });
  await expect(client.call('any', { long: 'x'.repeat(1_048_576) })).rejects.toMatchObject({ type });
  expect(daemon.requests.some(({ method }) => method === 'tools.call')).toBe(false);
  expect(await client.call<number>('any')).toBe(1);
});

test('a call that is aborted before it is sent reaches nobody', async () => {
  await using daemon = await new FakeDaemon(() => ({ result: 1, callId: 'c' })).listen();
  await using client = await clientOf(daemon);
  const signal = AbortSignal.abort(new Error('changed my mind'));
  const call = client.call('any', {}, { signal });
  await expect(call).rejects.toMatchObject({ type: 'tool_cancelled', cause: { message: 'changed my mind' } });
  expect(daemon.requests.some(({ method }) => method === 'tools.call')).toBe(false);
});

test('a call that is aborted before the daemon has said its id is hung up on', async () => {
  const stop = new AbortController();
  let hungUp: Promise<unknown> | undefined;
  await using daemon = await new FakeDaemon((_, socket) => {
    hungUp = once(socket, 'close');
    stop.abort();
  }).listen();
  await using client = await clientOf(daemon);
  await expect(client.call('any', {}, { signal: stop.signal })).rejects.toMatchObject({ type: 'tool_cancelled' });
  await hungUp;
});

test('what the callback for progress throws cancels the call and rejects it', async () => {
  let hungUp: Promise<unknown> | undefined;
  await using daemon = await new FakeDaemon((_, socket) => {
    hungUp = once(socket, 'close');
    const params = { kind: 'tool_call_progress', data: { callId: 'c', progress: 0.5 }, ts: 1, seq: 0 };
    socket.write(line({ jsonrpc: '2.0', method: 'event', params }).repeat(2));
  }).listen();
  await using client = await clientOf(daemon);
  const onProgress = ({ progress }: { progress?: number }): never => {
    throw new RangeError(`at ${progress}`);
  };
  await expect(client.call('any', {}, { onProgress })).rejects.toThrow(new RangeError('at 0.5'));
  await hungUp;
});

test('a call that is aborted later is cancelled by its id', async () => {
  const stop = new AbortController();
  await using daemon = await new FakeDaemon((request, socket) => {
    const started = { kind: 'tool_call_started', data: { name: 'any', callId: 'c7' }, ts: 1, seq: 0 };
    const progress = { kind: 'tool_call_progress', data: { callId: 'c7', progress: 0.5 }, ts: 1, seq: 0 };
    const events = [started, progress].map((params) => line({ jsonrpc: '2.0', method: 'event', params }));
    if (request.method === 'tools.call') socket.write(events.join(''));
    if (request.method !== 'tools.cancel') return undefined;
    // The app has answered at the same moment, so the call has a result.
    const called = daemon.requests.find(({ method }) => method === 'tools.call');
    if (called !== undefined) socket.write(reply(called, 'late'));
    return { cancelled: false };
  }).listen();
  await using client = await clientOf(daemon);
  const call = client.call('any', {}, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(call).rejects.toMatchObject({ type: 'tool_cancelled' });
  const cancel = daemon.requests.find(({ method }) => method === 'tools.cancel');
  expect(cancel?.params).toMatchObject({ selector: 's1', callId: 'c7' });
});
