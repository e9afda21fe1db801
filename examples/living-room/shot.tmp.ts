import { chromium } from 'playwright-core';
const [, , url, out, ...keys] = process.argv;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
page.on('console', (m) => console.log('console', m.type(), m.text()));
page.on('pageerror', (e) => console.log('pageerror', e.message));
await page.goto(url!);
await page.waitForTimeout(2500);
for (const key of keys) {
  if (/^\d+$/.test(key)) await page.waitForTimeout(Number(key));
  else {
    await page.keyboard.press(key);
    await page.waitForTimeout(120);
  }
}
await page.waitForTimeout(800);
await page.screenshot({ path: out!, timeout: 90000 });
await browser.close();
