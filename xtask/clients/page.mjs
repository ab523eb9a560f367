// Pages for a browser, by Chromium: what `docs/html.md` says of them.
//
//     node xtask/clients/page.mjs target/debug/coalesce [TREE]
//
// Without TREE it reads examples/duplicated. CHROMIUM says where the browser is (/usr/bin/chromium).
import { execFileSync } from 'node:child_process';
import { mkdtempSync, cpSync, rmSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { strict as assert } from 'node:assert';

// Looked for where the command is run: packages of clients are no part of the repository.
const puppeteer = createRequire(join(process.cwd(), 'clients', 'x.js'))('puppeteer-core');
const [program, tree] = process.argv.slice(2).map(path => resolve(path));
const here = mkdtempSync(join(tmpdir(), 'coalesce-pages-'));
const root = tree || join(here, 'tree');
if (!tree) cpSync('examples/duplicated', root, { recursive: true });
const run = (...words) => {
  const page = join(here, words[0] + '.html');
  try { execFileSync(program, [...words, '--root', root, '--html', page], { stdio: 'ignore' }); } catch (error) {
    if (error.status !== 1) throw error; // 1: something was found
  }
  assert(existsSync(page), words.join(' '));
  return 'file://' + page;
};
const pages = [run('audit'), run('check')];
if (!tree) {
  pages.push(run('diff', 'lidar.core.gpu', 'lidar.optimization.gpu'));
  pages.push(run('plan'));
}
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium', headless: true, args: ['--no-sandbox'],
});
const frame = page => page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))));
const text = (page, selector) => page.$$eval(selector, all => all.map(one => one.textContent).join('\n'));
try {
  for (const address of pages) {
    for (const width of [1280, 390]) {
      const page = await browser.newPage();
      const wrong = [];
      page.on('pageerror', error => wrong.push(String(error)));
      page.on('console', message => wrong.push(message.text()));
      page.on('request', request => request.url() === address || wrong.push('loads ' + request.url()));
      await page.setViewport({ width, height: 844 });
      await page.goto(address);
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length);
      const painted = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
      const tabs = await page.$$('nav button');
      for (let at = 0; at < Math.max(tabs.length, 1); at++) {
        if (tabs.length) await page.keyboard.press(String(at + 1));
        await frame(page);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert(over <= 0, `${address} at ${width}: section ${at + 1} is ${over} pixels too wide`);
      }
      assert.deepEqual(wrong, [], address);
      console.log(`${address.split('/').pop()} at ${width}: first paint after ${Math.round(painted)} ms`);
      await page.close();
    }
  }
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 844 });
  await page.goto(pages[0]);
  await page.keyboard.press('2');
  await page.keyboard.press('ArrowDown');
  const focused = () => page.evaluate(() => document.activeElement.getAttribute('role'));
  assert.equal(await focused(), 'treeitem', 'an arrow begins to walk through the tree');
  const expanded = () => page.evaluate(() => document.activeElement.getAttribute('aria-expanded'));
  const before = await expanded();
  await page.keyboard.press(before === 'true' ? 'ArrowLeft' : 'ArrowRight');
  assert.notEqual(await expanded(), before, 'an arrow opens and closes a row');
  await page.keyboard.press('/');
  await page.keyboard.type('no module is called this');
  await page.waitForFunction(() => !document.querySelector('main [role=treeitem]'));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.querySelector('main [role=treeitem]'));
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await back();
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  assert.notEqual(await back(), light, 'dark follows the system');
  await page.emulateMediaType('print');
  assert.equal(await page.$eval('header.bar', bar => getComputedStyle(bar).display), 'none', 'paper has no buttons');
  assert((await text(page, 'h1')).includes('coalesce audit'));
  console.log('keys, search, dark and print: as docs/html.md says');
} finally {
  await browser.close();
  rmSync(here, { recursive: true, force: true });
}
