import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import ts from 'typescript';
import { expect, test } from 'vitest';

import { findBinary } from '../src/binary.js';

const PACKAGE = join(import.meta.dirname, '..');
const PAGES = [join(PACKAGE, 'README.md'), join(PACKAGE, '../../../docs/testing.md')];

function blocks(language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, 'gm');
  return PAGES.flatMap((page) => [...readFileSync(page, 'utf8').matchAll(fence)].map(([, text]) => text ?? ''));
}

test('the code in the documents is of the right types', () => {
  const virtual = new Map(blocks('ts').map((text, index) => [join(PACKAGE, 'examples', `document_${index}.ts`), text]));
  expect(virtual.size).toBe(5);
  const config = ts.readConfigFile(join(PACKAGE, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, PACKAGE);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => virtual.get(path) ?? readFile(path);
  host.fileExists = (path) => virtual.has(path) || fileExists(path);
  const getSourceFile = host.getSourceFile;
  host.getSourceFile = (path, version, ...rest) => {
    const text = virtual.get(path);
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...virtual.keys()], options, host);
  const faults = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(faults).toEqual([]);
});

test('the script in the documents runs', async () => {
  const script = blocks('sh').find((text) => text.startsWith('#!')) ?? '';
  expect(script).toContain('appduct wait');
  const env = { ...process.env, PATH: `${dirname(findBinary())}${delimiter}${process.env['PATH']}` };
  // Where there is no jq, Node does what it does here.
  const jq = `jq() { ${JSON.stringify(process.execPath)} -p 'JSON.parse(require("fs").readFileSync(0)).data.total'; }`;
  const { stdout } = await promisify(execFile)('bash', ['-c', `${jq}\n${script}`], { env });
  expect(stdout).toContain('playground');
});
