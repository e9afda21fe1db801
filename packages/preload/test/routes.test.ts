import assert from 'node:assert/strict';
import diagnostics from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Routes } from '../src/routes/routes.js';

/** A request as the app has left it. */
function request(left: object = {}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), left);
}

const express = (path: unknown, baseUrl?: unknown): IncomingMessage => request({ route: { path }, baseUrl });

test('a route of Express is told once, with the place where its router is mounted', () => {
  const routes = new Routes();
  assert.equal(routes.news(express('/items/:slug', '')), '/items/:slug');
  assert.equal(routes.news(express('/items/:slug', '')), undefined);
  assert.equal(routes.news(express('/:id/edit', '/users')), '/users/:id/edit');
  assert.equal(routes.news(express('/', '/shop')), '/shop');
  assert.equal(routes.news(request()), undefined);
});

test("a page of Next is told from Next's notes on the request", () => {
  const notes = { match: { definition: { pathname: '/items/[slug]' } } };
  const left = { [Symbol.for('NextInternalRequestMeta')]: notes };
  assert.equal(new Routes().news(request(left)), '/items/[slug]');
});

test('a route of Fastify is told from its diagnostics channel', () => {
  const routes = new Routes();
  const raw = request();
  const publish = (message: object) =>
    diagnostics.channel('tracing:fastify.request.handler:start').publish(message);
  publish({ request: { raw }, route: { url: '/items/:slug' } });
  publish({ request: {} });
  assert.equal(routes.news(raw), '/items/:slug');
});

test('whatever the app leaves there, nothing breaks and nothing odd is told', () => {
  const routes = new Routes();
  const throwing = Object.defineProperty(request(), 'route', {
    get: () => {
      throw new Error('not yours');
    },
  });
  for (const odd of [
    throwing,
    express(/^\/a/),
    express(['/a', '/b']),
    express('*'),
    express('/a', 7),
    express('/x'.repeat(200)),
  ]) {
    assert.equal(routes.news(odd), undefined);
  }
});

test('I6: an unlimited number of templates is reported up to a limit', () => {
  const routes = new Routes();
  const told = Array.from({ length: 2_000 }, (_, number) => routes.news(express(`/u${number}/:id`)));
  assert.equal(told.filter((template) => template !== undefined).length, 500);
});

test('I6: values of a mounted parameter are reported up to a limit, and no other route is affected', () => {
  const routes = new Routes();
  const dashboard = { path: '/dashboard' };
  const told = Array.from({ length: 2_000 }, (_, number) =>
    routes.news(request({ route: dashboard, baseUrl: `/tenant-${number}` })),
  );
  assert.equal(told.filter((template) => template !== undefined).length, 8);
  assert.equal(routes.news(express('/dashboard', '/admin')), '/admin/dashboard', 'another router');
});

test('pages of Next behind one route of Express are all told', () => {
  const routes = new Routes();
  const route = { path: '/{*all}' };
  for (let number = 0; number < 20; number += 1) {
    const notes = { match: { definition: { pathname: `/page-${number}` } } };
    const left = { [Symbol.for('NextInternalRequestMeta')]: notes, route, baseUrl: '' };
    assert.equal(routes.news(request(left)), `/page-${number}`);
  }
});
