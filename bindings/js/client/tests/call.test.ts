import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';

import type { Tools } from '../examples/tools.js';
import type { AppClient, Session } from '../src/index.js';
import { playground, TestDaemon } from '../src/test_daemon.js';

describe('calls of a real app through a real daemon', () => {
  let daemon: TestDaemon;
  let session: Session;
  let client: AppClient<Tools>;

  beforeAll(async () => {
    daemon = await TestDaemon.start();
    session = await daemon.startApp(playground());
    client = await daemon.connect<Tools>(session.sessionId);
  });

  afterAll(async () => {
    await client?.close();
    await daemon?.stop();
  });

  test('the tools come with their groups', async () => {
    const tools = await client.tools();
    expect(tools.map(({ name, group }) => [name, group])).toEqual([
      ['call_count', 'counter'],
      ['reset_counter', 'counter'],
      ['slow_task', 'diagnostics/progress'],
      ['sum', null],
      ['throwing_tool', 'diagnostics'],
    ]);
    expect((await client.tools({ group: 'counter' })).length).toBe(2);
    expect((await client.tools({ filter: 'sum' })).map(({ name }) => name)).toEqual(['sum']);
  });

  test('a map of tools types the arguments and the result', async () => {
    const { total } = await client.call('sum', { a: 1.5, b: 2 });
    expectTypeOf(total).toEqualTypeOf<number>();
    expect(total).toBe(3.5);
    // @ts-expect-error there is no such tool in the map
    await expect(client.call('no_such_tool')).rejects.toMatchObject({ type: 'tool_not_found', code: -32000 });
    // @ts-expect-error b is missing
    const refused = client.call('sum', { a: 1 });
    await expect(refused).rejects.toMatchObject({
      type: 'tool_input_validation_error',
      details: { issues: [{ keyword: 'required' }] },
    });
  });

  test('without a map the caller says what the result is', async () => {
    await using plain = await daemon.connect();
    expect((await plain.call<{ total: number }>('sum', { a: 1, b: 2 })).total).toBe(3);
    const call = () => plain.call('sum');
    expectTypeOf(call).returns.resolves.toEqualTypeOf<unknown>();
  });

  test('the failure of a handler is an error with its message', async () => {
    const error = await client.call('throwing_tool').catch((failure: unknown) => failure);
    expect(error).toMatchObject({ type: 'tool_execution_error', message: 'throwing_tool always fails on purpose.' });
  });

  test('progress is told in order, and of this call only', async () => {
    const told: [number, string | undefined][] = [];
    const follow = (call: number) => client.call('slow_task', {}, { onProgress: (p) => told.push([call, p.message]) });
    await Promise.all([follow(1), follow(2)]);
    const of = (call: number) => told.filter(([one]) => one === call).map(([, message]) => message);
    expect([of(1), of(2)]).toEqual([
      ['warming up', 'almost there', 'done'],
      ['warming up', 'almost there', 'done'],
    ]);
  });

  test('a call that is aborted after it was sent is cancelled in the app', async () => {
    await using stream = await client.events({ kinds: ['tool_call_finished'], name: 'slow_task' }).ready();
    const stop = new AbortController();
    const call = client.call('slow_task', {}, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(call).rejects.toMatchObject({ type: 'tool_cancelled' });
    expect((await stream.next()).value?.data).toMatchObject({ outcome: 'cancelled' });
  });

  test('a deadline of the caller is the timeout of the daemon', async () => {
    await expect(client.call('slow_task', {}, { timeoutMs: 1 })).rejects.toMatchObject({ type: 'tool_timeout' });
  });

  test('arguments that fit no frame fail that call alone', async () => {
    const args = { a: 1, b: 1, filler: 'x'.repeat(300 * 1024) };
    const call = client.call('sum', args, { validate: false });
    await expect(call).rejects.toMatchObject({ type: 'tool_serialization_error' });
    expect(await client.call('sum', { a: 1, b: 1 })).toEqual({ total: 2 });
  });

  test('two clients on one daemon do not disturb each other', async () => {
    const other = await daemon.connect<Tools>(session.alias);
    const running = client.call('slow_task');
    const hung = other.call('slow_task');
    const ended = expect(hung).rejects.toMatchObject({ type: 'connection_error', message: 'the client was closed' });
    await other.close();
    await ended;
    expect(await running).toEqual({ done: true });
    await expect(other.call('sum', { a: 1, b: 1 })).rejects.toMatchObject({ type: 'connection_error' });
  });

  test('the history holds each call and how it ended', async () => {
    await using own = await daemon.connect<Tools>();
    await own.call('sum', { a: 2, b: 2 });
    await own.call('throwing_tool').catch(() => {});
    expect(own.history.calls).toMatchObject([
      { tool: 'sum', args: { a: 2, b: 2 }, result: { total: 4 } },
      { tool: 'throwing_tool', error: { type: 'tool_execution_error' } },
    ]);
  });
});

describe('a policy', () => {
  test('denies, and prompts until a person has agreed', async () => {
    const policy = { destructive: 'prompt', groups: { diagnostics: 'deny' } };
    const daemon = await TestDaemon.start({ config: { policy } });
    try {
      await daemon.startApp(playground());
      await using client = await daemon.connect<Tools>();
      const denied = await client.call('throwing_tool').catch((failure: unknown) => failure);
      expect(denied).toMatchObject({ type: 'policy_denied', hint: expect.stringContaining('config.json') });
      await expect(client.call('reset_counter')).rejects.toMatchObject({
        type: 'policy_denied',
        details: { reason: 'no_consent_channel' },
      });
      expect(await client.call('reset_counter', {}, { consent: 'elicitation' })).toEqual({ count: 0 });
      const sum = (await client.tools()).find(({ name }) => name === 'sum');
      expect(sum?.policy).toBe('allow');
    } finally {
      await daemon.stop();
    }
  });
});
