/** Bodies of forms: at most 16 KB, and only fields that are plain text. */

import express from 'express';
import type { Request } from 'express';

export const formBody = express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 });

/** The body's fields that are plain text; a field given twice, or no body at all, counts as not given. */
export function fieldsOf(req: Request): Record<string, string> {
  const body: unknown = req.body;
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(
    Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
