import { Form } from 'react-router';

export async function action({ request }) {
  const form = await request.formData();
  return { message: String(form.get('message')) };
}

export default function Echo({ actionData }) {
  return (
    <Form method="post">
      <input name="message" />
      <button>Send</button>
      {actionData ? <p>{actionData.message}</p> : null}
    </Form>
  );
}
