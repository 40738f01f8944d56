import { expect, test } from 'vitest';

import { LineDecoder } from '../src/lines.js';

const TEXT = '{"a":"ä€😀"}\r\n\n{"b":"\u2028"}\nrest';

test('a stream gives the same lines however it is cut', () => {
  const bytes = Buffer.from(TEXT);
  for (let size = 1; size <= bytes.length; size += 1) {
    const decoder = new LineDecoder(1000);
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += size) lines.push(...decoder.push(bytes.subarray(at, at + size)));
    expect(lines).toEqual(['{"a":"ä€😀"}', '{"b":"\u2028"}']);
    expect(decoder.push(Buffer.from('\n'))).toEqual(['rest']);
  }
});

test('a line of the longest length is taken and one byte more is not', () => {
  expect(new LineDecoder(4).push(Buffer.from('1234\n5678\n'))).toEqual(['1234', '5678']);
  expect(() => new LineDecoder(4).push(Buffer.from('12345\n'))).toThrow(RangeError);
  const endless = new LineDecoder(4);
  endless.push(Buffer.from('123'));
  expect(() => endless.push(Buffer.from('45'))).toThrow(RangeError);
});

test('bytes that are no UTF-8 are replaced and not thrown over', () => {
  expect(new LineDecoder(10).push(Uint8Array.of(0x61, 0xff, 0x62, 0x0a))).toEqual(['a\ufffdb']);
});
