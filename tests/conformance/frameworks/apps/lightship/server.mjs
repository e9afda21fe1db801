// An Express app with Lightship's health server, which listens on a port of its own before the app does.
import express from 'express';
import { createLightship } from 'lightship';

const lightship = await createLightship({ detectKubernetes: false, port: Number(process.env.LIGHTSHIP_PORT ?? 9000) });

const app = express();
app.get('/', (_request, response) => response.send('the app'));
app.get('/health', (_request, response) => response.send("the app's own health"));

// Connecting to a database takes a moment.
await new Promise((resolve) => setTimeout(resolve, 300));
const server = app.listen(process.env.PORT ?? 3000, () => lightship.signalReady());
lightship.registerShutdownHandler(() => new Promise((resolve) => server.close(resolve)));
