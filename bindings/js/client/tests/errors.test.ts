import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { AppductError, ERROR_TYPES, errorOfReply } from '../src/errors.js';

const OWN = ['connection_error', 'timeout', 'client_error'];

test('the types are those that the page on the control socket lists', () => {
  const page = readFileSync(new URL('../../../../docs/rpc.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| \[`([a-z_]+)`\]/gm)].map(([, type]) => type);
  expect(listed.length).toBeGreaterThan(10);
  expect([...ERROR_TYPES].sort()).toEqual([...listed, ...OWN].sort());
});

test('an error reply keeps its type, code, message and details', () => {
  const details = { issues: [{ path: '/a', message: 'no' }] };
  const reply = { code: -32000, message: 'bad', data: { type: 'tool_input_validation_error', details } };
  const error = errorOfReply(reply, 'tools.call');
  expect(error).toMatchObject({ type: 'tool_input_validation_error', code: -32000, message: 'bad', details });
  expect(error.hint).toContain('details.issues');
});

test('the hint of the daemon goes before the own one', () => {
  const data = { type: 'policy_denied', details: { hint: 'edit config.json' } };
  expect(errorOfReply({ code: -32000, message: 'no', data }, 'tools.call').hint).toBe('edit config.json');
});

test('a method that is missing says that the daemon is older', () => {
  const error = errorOfReply({ code: -32601, message: 'unknown method' }, 'events.since');
  expect(error).toMatchObject({ type: 'client_error', code: -32601 });
  expect(error.hint).toContain('events.since');
});

test.each([null, undefined, 7, 'text', [], {}, { code: 'x', message: 1, data: null }, { data: { type: 1 } }])(
  'the malformed error %j is an error still',
  (reply) => {
    expect(errorOfReply(reply, 'tools.call')).toMatchObject({ type: 'client_error', code: undefined });
  },
);

test('a type that this version does not know passes through', () => {
  expect(errorOfReply({ code: -32000, message: 'm', data: { type: 'of_tomorrow' } }, 'x').type).toBe('of_tomorrow');
  expect(JSON.parse(JSON.stringify(new AppductError('of_tomorrow', 'm')))).toEqual({ type: 'of_tomorrow', message: 'm' });
});
