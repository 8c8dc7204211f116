// SPDX-License-Identifier: Apache-2.0
//
// node-redis against the server, version 4 with RESP2 and version 5 with RESP2 and RESP3: defaults, pipelines,
// transactions, WATCH, SCAN, binary data. Run by node_test.py as `node --test node_redis_test.js` with NIDUS_PORT set.

const assert = require('node:assert/strict');
const { test } = require('node:test');

const port = Number(process.env.NIDUS_PORT);
const url = `redis://127.0.0.1:${port}`;
const four = require('redis');
const five = require('redis5');

const variants = [
  { name: 'version 4', create: (options) => four.createClient({ url, ...options }), buffers: (client, key) => client.get(four.commandOptions({ returnBuffers: true }), key) },
  { name: 'version 5', create: (options) => five.createClient({ url, ...options }), buffers: typeMapped },
  { name: 'version 5, RESP3', create: (options) => five.createClient({ url, RESP: 3, ...options }), buffers: typeMapped },
];

function typeMapped(client, key) {
  return client.withTypeMapping({ [five.RESP_TYPES.BLOB_STRING]: Buffer }).get(key);
}

async function scan(client, match) {
  const seen = new Set();
  for await (const found of client.scanIterator({ MATCH: match, COUNT: 100 })) {
    (Array.isArray(found) ? found : [found]).forEach((key) => seen.add(key));
  }
  return seen.size;
}

async function strings(client) {
  assert.equal(await client.set('k', 'v', { EX: 100 }), 'OK');
  assert.equal(await client.get('k'), 'v');
  assert.equal(await client.get('missing'), null);
  assert.equal(await client.set('k', 'w', { NX: true }), null);
  assert.equal(await client.ttl('k'), 100);
  assert.equal(await client.incrBy('n', 5), 5);
  assert.equal(await client.mSet({ a: '1', b: '2' }), 'OK');
  assert.deepEqual(await client.mGet(['a', 'nil', 'b']), ['1', null, '2']);
  assert.deepEqual(Object.entries(await client.configGet('maxmemory')), [['maxmemory', '0']]);
  assert.equal(await client.clientGetName(), 'conformance');
  assert.equal(Number(await client.incrByFloat('f', 1.5)), 1.5);
  await client.set('text', 'abc');
  await assert.rejects(client.incr('text'), /value is not an integer or out of range/);
  await assert.rejects(client.sendCommand(['NOSUCH']), /unknown command/);
}

async function pipelines(client) {
  const sent = [];
  for (let i = 0; i < 5000; ++i) sent.push(client.set(`p${i}`, String(i)), client.get(`p${i}`));
  (await Promise.all(sent)).forEach((value, i) => assert.equal(value, i % 2 ? String((i - 1) / 2) : 'OK'));
  assert.equal(await scan(client, 'p*'), 5000);
}

async function transactions(client, create) {
  assert.deepEqual(await client.multi().set('n', '1').incr('n').get('n').exec(), ['OK', 2, '2']);
  const watcher = create({ database: 3 });
  watcher.on('error', (error) => console.error(error));
  await watcher.connect();
  try {
    await watch(client, watcher);
  } finally {
    watcher.destroy ? watcher.destroy() : await watcher.disconnect();
  }
}

async function watch(client, watcher) {
  await watcher.watch('n');
  await client.set('n', '9');
  await assert.rejects(watcher.multi().incr('n').exec(), { name: 'Error' });
  await watcher.watch('n');
  assert.deepEqual(await watcher.multi().incr('n').exec(), [10]);
}

async function binary(client, buffers) {
  const value = Buffer.alloc(300000, Buffer.from(Array.from({ length: 256 }, (_, i) => i)));
  for (const key of [Buffer.from([0, 13, 10, 255]), Buffer.alloc(0)]) {
    await client.set(key, value);
    assert.deepEqual(await buffers(client, key), value);
  }
}

for (const { name, create, buffers } of variants) {
  test(`node-redis, ${name}`, async (t) => {
    const client = create({ name: 'conformance', database: 3 });
    client.on('error', (error) => console.error(error));
    let closed = false;
    t.after(() => closed || (client.destroy ? client.destroy() : client.disconnect()));
    await client.connect();
    await client.flushAll();
    await t.test('strings with the defaults', () => strings(client));
    await t.test('pipelines and SCAN', () => pipelines(client));
    await t.test('transactions and WATCH', () => transactions(client, create));
    await t.test('binary keys and values', () => binary(client, buffers));
    await client.quit();
    closed = true;
  });
}
